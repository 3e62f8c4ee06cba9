/**
 * The camera and the microphone of this browser, and which devices the person has chosen. It lives as long as the page,
 * so that the meeting goes on with what the lobby has shown.
 */
import { local, session } from '../lib/storage.ts';

export type CaptureKind = 'microphone' | 'camera';
export type DeviceKind = CaptureKind | 'speaker';

/**
 * Why there is no track: the person or the system does not allow it, there is no such device, another program uses it,
 * or the page was loaded over plain HTTP, where browsers offer no devices at all.
 */
export type CaptureFault = 'denied' | 'missing' | 'busy' | 'insecure';

export type LocalMediaState = {
  /** The track that runs. A muted microphone keeps its track; a camera that is off has none. */
  tracks: Record<CaptureKind, MediaStreamTrack | null>;
  isOn: Record<CaptureKind, boolean>;
  faults: Record<CaptureKind, CaptureFault | null>;
  /** The browser is asked for a device, and may be asking the person. */
  isAsking: boolean;
  devices: Record<DeviceKind, readonly MediaDeviceInfo[]>;
  /** The ID of the chosen device; null leaves the choice to the browser. */
  chosen: Record<DeviceKind, string | null>;
};

export type LocalMedia = {
  getState(): LocalMediaState;
  subscribe(listener: () => void): () => void;
  /** Asks for the devices that were on when this tab was last used, at first for both. */
  start(): Promise<void>;
  /** Turns a device on or off. It stays off if the browser does not give it; `faults` then says why. */
  setOn(kind: CaptureKind, isOn: boolean): Promise<void>;
  /** Chooses a device, and changes to it at once if its kind is on. */
  choose(kind: DeviceKind, deviceId: string): Promise<void>;
  /** Ends all tracks, which turns off the light of the camera. */
  stop(): void;
};

const KINDS: readonly CaptureKind[] = ['microphone', 'camera'];

const IDEAL: Record<CaptureKind, MediaTrackConstraints> = {
  microphone: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  camera: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30, max: 30 } },
};

const chosenKey = (kind: DeviceKind): string => `lynxroom.meeting.${kind}`;
const isOnKey = (kind: CaptureKind): string => `lynxroom.meeting.${kind}.on`;

export function createLocalMedia(): LocalMedia {
  const listeners = new Set<() => void>();
  // Over plain HTTP, browsers have no `mediaDevices`, which the types do not say.
  const mediaDevices: MediaDevices | undefined = navigator.mediaDevices;
  let isStopped = false;
  let state: LocalMediaState = {
    tracks: { microphone: null, camera: null },
    isOn: { microphone: false, camera: false },
    faults: { microphone: null, camera: null },
    isAsking: false,
    devices: { microphone: [], camera: [], speaker: [] },
    chosen: {
      microphone: local.read(chosenKey('microphone')),
      camera: local.read(chosenKey('camera')),
      speaker: local.read(chosenKey('speaker')),
    },
  };

  function change(part: Partial<LocalMediaState>): void {
    state = { ...state, ...part };
    for (const listener of listeners) listener();
  }

  async function start(): Promise<void> {
    isStopped = false;
    mediaDevices?.addEventListener('devicechange', listDevices);
    const wanted = KINDS.filter((kind) => session.read(isOnKey(kind)) !== 'off');
    await ask(wanted);
  }

  /** Asks for several kinds with one question to the person. If that fails, for each alone: one may be there. */
  async function ask(kinds: readonly CaptureKind[]): Promise<void> {
    if (kinds.length === 0) return listDevices();
    if (mediaDevices === undefined) {
      return change({ faults: { microphone: 'insecure', camera: 'insecure' } });
    }
    change({ isAsking: true });
    try {
      use(await open(mediaDevices, kinds));
    } catch (error) {
      if (kinds.length > 1) {
        for (const kind of kinds) await ask([kind]);
      } else {
        const [kind = 'camera'] = kinds;
        change({
          faults: { ...state.faults, [kind]: toFault(error) },
          isOn: { ...state.isOn, [kind]: false },
        });
      }
    } finally {
      change({ isAsking: false });
    }
    await listDevices();
  }

  function open(devices: MediaDevices, kinds: readonly CaptureKind[]): Promise<MediaStream> {
    const constraintsOf = (kind: CaptureKind): MediaTrackConstraints | false => {
      if (!kinds.includes(kind)) return false;
      const deviceId = state.chosen[kind];
      // A device that was unplugged is no reason to have none.
      return { ...IDEAL[kind], ...(deviceId !== null && { deviceId: { ideal: deviceId } }) };
    };
    return devices.getUserMedia({ audio: constraintsOf('microphone'), video: constraintsOf('camera') });
  }

  function use(stream: MediaStream): void {
    for (const track of stream.getTracks()) {
      if (isStopped) {
        track.stop();
        continue;
      }
      const kind = track.kind === 'audio' ? 'microphone' : 'camera';
      // A muted person stays muted with another microphone.
      track.enabled = state.tracks[kind] === null || state.isOn[kind];
      state.tracks[kind]?.stop();
      // A device that is unplugged, or whose permission is taken away, ends its track.
      track.addEventListener('ended', () => {
        if (state.tracks[kind] === track) lose(kind);
      });
      change({
        tracks: { ...state.tracks, [kind]: track },
        isOn: { ...state.isOn, [kind]: track.enabled },
        faults: { ...state.faults, [kind]: null },
      });
    }
  }

  function lose(kind: CaptureKind): void {
    change({
      tracks: { ...state.tracks, [kind]: null },
      isOn: { ...state.isOn, [kind]: false },
      faults: { ...state.faults, [kind]: 'missing' },
    });
    void listDevices();
  }

  async function listDevices(): Promise<void> {
    const all = (await mediaDevices?.enumerateDevices().catch(() => [])) ?? [];
    // Before the permission is given, devices have neither an ID nor a name.
    const named = (kind: MediaDeviceKind) => all.filter((one) => one.kind === kind && one.deviceId !== '');
    change({
      devices: { microphone: named('audioinput'), camera: named('videoinput'), speaker: named('audiooutput') },
    });
  }

  async function setOn(kind: CaptureKind, isOn: boolean): Promise<void> {
    session.write(isOnKey(kind), isOn ? null : 'off');
    const track = state.tracks[kind];
    if (isOn && track === null) return ask([kind]);
    if (!isOn && kind === 'camera') {
      track?.stop();
      return change({ tracks: { ...state.tracks, camera: null }, isOn: { ...state.isOn, camera: false } });
    }
    if (track !== null) track.enabled = isOn;
    change({ isOn: { ...state.isOn, [kind]: isOn && track !== null } });
  }

  async function choose(kind: DeviceKind, deviceId: string): Promise<void> {
    local.write(chosenKey(kind), deviceId);
    change({ chosen: { ...state.chosen, [kind]: deviceId } });
    if (kind === 'speaker' || state.tracks[kind] === null) return;
    await ask([kind]);
  }

  function stop(): void {
    isStopped = true;
    mediaDevices?.removeEventListener('devicechange', listDevices);
    for (const kind of KINDS) state.tracks[kind]?.stop();
    change({ tracks: { microphone: null, camera: null }, isOn: { microphone: false, camera: false } });
  }

  return {
    getState: () => state,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    start,
    setOn,
    choose,
    stop,
  };
}

function toFault(error: unknown): CaptureFault {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'NotAllowedError' || name === 'SecurityError') return 'denied';
  return name === 'NotFoundError' || name === 'OverconstrainedError' ? 'missing' : 'busy';
}
