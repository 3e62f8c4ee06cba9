import type { TextKey } from '../../../src/languages/catalogue.ts';
import { SelectField } from '../components/Form.tsx';
import { useTexts } from '../languages/texts.ts';
import type { DeviceKind, LocalMedia, LocalMediaState } from './local-media.ts';
import { canChooseSpeaker } from './sounds.ts';

const LABELS = {
  microphone: 'device.microphone',
  camera: 'device.camera',
  speaker: 'device.speaker',
} as const satisfies Record<DeviceKind, TextKey>;
const KINDS: readonly DeviceKind[] = ['microphone', 'camera', 'speaker'];

/** The choice of devices. A kind without a device that has a name, as before the permission is given, is left out. */
export function DeviceFields({ media, state }: { media: LocalMedia; state: LocalMediaState }) {
  const { write } = useTexts();
  return KINDS.filter((kind) => state.devices[kind].length > 0 && (kind !== 'speaker' || canChooseSpeaker)).map(
    (kind) => (
      <SelectField
        key={kind}
        name={kind}
        label={write(LABELS[kind])}
        value={chosenOf(state, kind)}
        onChange={({ target }) => void media.choose(kind, target.value)}
        options={state.devices[kind].map(({ deviceId, label }, index) => ({
          value: deviceId,
          label: label || write('device.numbered', { device: write(LABELS[kind]), number: index + 1 }),
        }))}
      />
    ),
  );
}

/** The device in use, which may be another than the chosen one if that was unplugged. */
function chosenOf({ tracks, chosen, devices }: LocalMediaState, kind: DeviceKind): string {
  const inUse = kind === 'speaker' ? undefined : tracks[kind]?.getSettings().deviceId;
  const known = [inUse, chosen[kind]].find((id) => devices[kind].some(({ deviceId }) => deviceId === id));
  return known ?? devices[kind][0]?.deviceId ?? '';
}
