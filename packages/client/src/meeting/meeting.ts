import type { Client } from '@lynxroom/client';
import type { Carrier } from './carrier.ts';
import { checkChatText, RateLimit } from './chat.ts';
import { createId, Emitter } from './emitter.ts';
import type { TrackKind } from './kinds.ts';
import { isTokenOf } from './livekit-identity.ts';
import { LocalTracks } from './local-tracks.ts';
import { createMediaCarrier } from './media-carrier.ts';
import { MediaInUse } from './media-in-use.ts';
import { createService, type StreamMessage } from './service.ts';
import { createSnapshots } from './snapshot.ts';
import type {
  ChatMessage,
  EndReason,
  FailedRecording,
  Meeting,
  MeetingEvents,
  MeetingMedia,
  MeetingOptions,
  RunningRecording,
} from './types.ts';
import { Visit } from './visit.ts';

/** A shorter break of the stream is not worth a word. */
const MAX_SILENT_BREAK_MS = 1_500;
/** As fast as the others read, see `Member`. */
const [CHAT_BURST, CHATS_PER_SECOND] = [8, 1.5];
/** Signals are sent again after the stream was lost. So many are remembered, to be handled once. */
const MAX_SEEN_SIGNALS = 1_000;

const endReasons: Partial<Record<StreamMessage['event'], EndReason>> = {
  'participant.refused': 'refused',
  'participant.left': 'left',
  'participant.removed': 'removed',
  'room.closed': 'closed',
  'room.deleted': 'deleted',
};

/**
 * Creates a meeting in the room `options.roomName`, which `join()` enters. It needs a browser with WebRTC, and a client
 * that is signed in, or `options.name` for a guest.
 */
export function createMeeting(client: Client, options: MeetingOptions): Meeting {
  const { roomName, loadLivekit } = options;
  const service = createService(client, roomName);
  const emitter = new Emitter<MeetingEvents>();
  const chats = new RateLimit(CHAT_BURST, CHATS_PER_SECOND);
  const local = new LocalTracks((kind) => {
    void carrier?.applyTrack(kind);
    if (phase === 'inside') visit?.sendHeartbeat();
    changed();
  });
  const inUse = new MediaInUse(
    (media) => {
      carrier?.setMedia(media);
      changed();
    },
    () => visit?.sendHeartbeat(),
  );

  let token = options.token ?? null;
  let connectionId = options.connectionId ?? createId();
  let phase: 'idle' | 'joining' | 'inside' | 'elsewhere' | 'ended' = 'idle';
  let endReason: EndReason | null = null;
  let participant: Meeting['participant'] = null;
  let recording: RunningRecording | null = null;
  let failedRecording: FailedRecording | null = null;
  let isChatEnabled = true;
  let isBroken = false;
  let breakTimer: ReturnType<typeof setTimeout> | undefined;
  let visit: Visit | null = null;
  let carrier: Carrier | null = null;
  let seenSignals = new Set<number | string>();

  const { changed, read } = createSnapshots(
    () => ({
      phase,
      endReason,
      participant,
      recording,
      failedRecording,
      isChatEnabled,
      isBroken,
      media: inUse.current,
      peers: carrier?.describe() ?? [],
      speaker: carrier?.speaker ?? null,
      local: local.all,
    }),
    (snapshot) => emitter.emit('change', snapshot),
  );

  async function join(): Promise<void> {
    if (phase !== 'idle' && phase !== 'ended') return;
    [phase, endReason] = ['joining', null];
    changed();
    const { name, email } = options;
    try {
      const answer = await service.join({
        ...(name !== undefined && { name }),
        ...(email !== undefined && { email }),
        ...(token !== null && { token }),
      });
      token = answer.participant.token;
      if (phase === 'joining') {
        participant = answer.participant;
        enter();
        offer(answer.media ?? null);
      } else {
        // `leave` was called meanwhile.
        await tellLeft();
      }
    } catch (error) {
      if (phase === 'joining') phase = 'idle';
      changed();
      throw error;
    }
  }

  /** Takes part with this page. Who was in the meeting before is learned from the stream. */
  function enter(): void {
    if (participant === null || token === null) return;
    const own = token;
    phase = 'inside';
    seenSignals = new Set();
    carrier = createMediaCarrier({
      ownId: participant.id,
      sent: (kind) => local.sent(kind),
      post: (to, toConnectionId, data) => service.signal(own, connectionId, to, toConnectionId, data),
      loadLivekit,
      onChange: changed,
      onMessage({ id, name }, message) {
        if (message.type === 'chat' && isChatEnabled) report({ from: { id, name }, text: message.text, isOwn: false });
      },
      onMuted(kind) {
        local.setMuted(kind, true);
        emitter.emit('muted', kind);
      },
      onError: (error) => emitter.emit('error', error),
    });
    visit = new Visit({
      service,
      token: own,
      connectionId,
      readPage: () => ({
        microphone: local.isOn('microphone'),
        camera: local.isOn('camera'),
        screen: local.isOn('screen'),
      }),
      isWaiting: () => participant?.status === 'waiting',
      onMessage: handle,
      onPresence({ participant: next, media }) {
        participant = next;
        if (media !== undefined) offer(media);
        if (next.status === 'refused' || next.status === 'left') end(next.status);
        else changed();
      },
      onConnection: setConnected,
      onNetworkChange: () => carrier?.repairNow(),
      onReplaced: continueElsewhere,
      onEnd(reason, error) {
        end(reason);
        if (error) emitter.emit('error', error);
      },
    });
    visit.start();
    changed();
  }

  function offer(media: MeetingMedia | null): void {
    // The first answers name no page. The stream does, and presence once the stream is open.
    if (media?.kind === 'livekit' && loadLivekit !== undefined && !isTokenOf(media.token, connectionId)) return;
    inUse.offer(media);
  }

  function handle(message: StreamMessage): void {
    if ('timestamp' in message) inUse.setTime(message.timestamp);
    if (message.event === 'connection.replaced') {
      continueElsewhere();
    } else if (message.event === 'mute.requested') {
      emitter.emit('mute-requested', { name: message.data.name });
    } else if (message.event === 'signal') {
      handleSignal(message.data);
    } else if (message.event === 'peers') {
      recording = message.data.recording;
      failedRecording = message.data.failed_recording ?? null;
      isChatEnabled = Boolean(message.data.chat);
      carrier?.setPeers(message.data.peers);
    } else {
      if (message.data.participant) participant = message.data.participant;
      const reason = endReasons[message.event];
      if (reason) {
        end(reason);
      } else {
        offer(message.data.media ?? null);
        changed();
      }
    }
  }

  function handleSignal({ id, from, from_connection_id, data }: (StreamMessage & { event: 'signal' })['data']): void {
    if (seenSignals.has(id)) return;
    if (seenSignals.size >= MAX_SEEN_SIGNALS) seenSignals = new Set([...seenSignals].slice(MAX_SEEN_SIGNALS / 2));
    seenSignals.add(id);
    carrier?.receive(from, from_connection_id, data);
  }

  function setConnected(isOpen: boolean): void {
    clearTimeout(breakTimer);
    if (isOpen) {
      carrier?.retrySignals();
      isBroken = false;
    } else {
      breakTimer = setTimeout(() => {
        isBroken = true;
        changed();
      }, MAX_SILENT_BREAK_MS);
    }
    changed();
  }

  function continueElsewhere(): void {
    if (phase === 'inside') close('elsewhere');
  }

  function end(reason: EndReason): void {
    endReason = reason;
    close('ended');
  }

  /** Ends everything of this page: nothing is sent or received any more, and the local tracks are stopped. */
  function close(next: 'elsewhere' | 'ended'): void {
    phase = next;
    clearTimeout(breakTimer);
    isBroken = false;
    visit?.stop();
    carrier?.close();
    inUse.stop();
    [visit, carrier, recording, failedRecording] = [null, null, null, null];
    local.stop();
    changed();
  }

  async function tellLeft(): Promise<void> {
    // Without an answer, the service ends the visit when it gets no heartbeats any more.
    if (token !== null) await service.leave(token).catch(() => {});
  }

  function report(message: Omit<ChatMessage, 'id' | 'at'>): ChatMessage {
    const whole: ChatMessage = { id: createId(), at: Date.now(), ...message };
    emitter.emit('chat', whole);
    return whole;
  }

  const methods: Pick<
    Meeting,
    | ('on' | 'join' | 'setTrack' | 'setMuted' | 'sendChat' | 'getStats' | 'getAudioLevel' | 'comeBack')
    | ('leave' | 'leaveOnUnload')
  > = {
    on: (event, listener) => emitter.on(event, listener),
    join,
    async setTrack(kind: TrackKind, track: MediaStreamTrack | null) {
      local.set(kind, track);
      await carrier?.applyTrack(kind);
    },
    setMuted: (kind, isMuted) => local.setMuted(kind, isMuted),
    sendChat(input) {
      const text = checkChatText(input);
      if (phase !== 'inside' || participant?.status !== 'joined') throw new Error('Join the meeting first');
      if (!isChatEnabled) throw new Error('A host has switched the chat off');
      if (!chats.take(performance.now())) throw new Error('Too many messages at once');
      carrier?.send({ type: 'chat', text });
      return report({ from: { id: participant.id, name: participant.name }, text, isOwn: true });
    },
    getStats: async () => (await carrier?.getStats()) ?? new Map(),
    getAudioLevel: (participantId) => carrier?.readLevel(participantId) ?? 0,
    async comeBack() {
      if (phase !== 'elsewhere') return;
      connectionId = createId();
      enter();
    },
    async leave() {
      if (phase === 'idle' || phase === 'ended') return;
      const hasJoined = phase !== 'joining';
      end('left');
      if (hasJoined) await tellLeft();
    },
    leaveOnUnload() {
      if (phase !== 'inside' && phase !== 'elsewhere') return;
      end('left');
      const base = (options.url ?? location.origin).replace(/\/+$/, '');
      void fetch(`${base}/api/rooms/${encodeURIComponent(roomName)}/leave`, {
        method: 'POST',
        keepalive: true,
        credentials: 'omit',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }).catch(() => {});
    },
  };

  return {
    ...methods,
    get snapshot() {
      return read();
    },
    get token() {
      return token;
    },
    get connectionId() {
      return connectionId;
    },
    get state() {
      return read().state;
    },
    get endReason() {
      return endReason;
    },
    get participant() {
      return participant;
    },
    get media() {
      return inUse.current;
    },
    get recording() {
      return recording;
    },
    get failedRecording() {
      return failedRecording;
    },
    get isChatEnabled() {
      return isChatEnabled;
    },
    get peers() {
      return read().peers;
    },
    get speaker() {
      return read().speaker;
    },
    get local() {
      return local.all;
    },
  };
}
