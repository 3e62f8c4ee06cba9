/**
 * The connection to one page of another participant, by the pattern of perfect negotiation (W3C WebRTC, section 10.7):
 * either side may offer at any time, and of two offers that cross, the one of the impolite side counts.
 *
 * One side, the initiator, makes the first offer, with four transceivers and a channel. What is sent later changes by
 * `replaceTrack`, so that the connection is negotiated again only to restart ICE.
 */
import { createId } from './emitter.ts';
import { mediaOf, type TrackKind, trackKinds } from './kinds.ts';
import { LinkRecovery } from './link-recovery.ts';
import { type Answer, type Candidate, MAX_CANDIDATES, type Offer, type Signal } from './signal-data.ts';

export type LinkOptions = {
  /** Whether this side makes the first offer. It is then the impolite one. */
  isInitiator: boolean;
  configuration: RTCConfiguration;
  /** What to send of a kind. */
  sent(kind: TrackKind): MediaStreamTrack | null;
  send(signal: Signal): void;
  /** Called when the state, a track or the channel has changed. */
  onChange(): void;
  onMessage(data: unknown): void;
};

export type LinkState = 'connecting' | 'connected' | 'reconnecting';

/** Candidates that are found within this time are sent together. */
const BATCH_MS = 40;
/** A browser finds some ten. */
const MAX_RECEIVED_CANDIDATES = 200;
const CHANNEL_ID = 0;
/** A slow reader of the channel gets no more messages. */
const MAX_BUFFERED_BYTES = 256 * 1024;

type Description = { signal: Signal; number: number };

export class Link {
  readonly #options: LinkOptions;
  #configuration: RTCConfiguration;
  #recovery: LinkRecovery;
  // `open` sets these fields, and the constructor calls it.
  #pc: RTCPeerConnection;
  #session = createId();
  #remoteSession: string | null = null;
  #channel: RTCDataChannel | null = null;
  #transceivers = new Map<TrackKind, RTCRtpTransceiver>();
  #isOffering = false;
  /** The last offer that was made here, and the last answer, which are sent again if they were lost. */
  #offer: Description | null = null;
  #answer: Description | null = null;
  #offers = 0;
  /** The part of this side in the encryption, which the first answer decides for as long as the connection lasts. */
  #setup: 'active' | 'passive' | null = null;
  /** Candidates that wait to be sent, and the last ones of all. */
  #found: Candidate[] = [];
  #candidates: Candidate[] = [];
  #batch: ReturnType<typeof setTimeout> | undefined;
  #receivedCandidates = 0;
  #receiving: Promise<void> = Promise.resolve();
  /** Rejects when the present connection is closed. */
  #closing = createClosing();
  /** Ends the calls of `getStats` that wait for an answer. */
  #unanswered = new Set<() => void>();
  #wasConnected = false;
  #isRemoteClosed = false;
  #isClosed = false;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#configuration = options.configuration;
    this.#recovery = new LinkRecovery(options.isInitiator);
    this.#pc = this.#open();
  }

  get state(): LinkState {
    if (this.#pc.connectionState === 'connected' && !this.#isRemoteClosed) return 'connected';
    return this.#wasConnected ? 'reconnecting' : 'connecting';
  }

  get pc(): RTCPeerConnection {
    return this.#pc;
  }

  transceiver(kind: TrackKind): RTCRtpTransceiver | undefined {
    return this.#transceivers.get(kind);
  }

  /** What is received of a kind. null before the connection is negotiated. */
  track(kind: TrackKind): MediaStreamTrack | null {
    const track = this.#pc.remoteDescription === null ? undefined : this.#transceivers.get(kind)?.receiver.track;
    return track?.readyState === 'live' ? track : null;
  }

  /** What the connection reports about itself. null if it is closed first: Firefox then never answers. */
  getStats(): Promise<RTCStatsReport | null> {
    return new Promise((resolve, reject) => {
      const giveUp = (): void => resolve(null);
      this.#unanswered.add(giveUp);
      void this.#pc
        .getStats()
        .then(resolve, reject)
        .finally(() => this.#unanswered.delete(giveUp));
    });
  }

  /** Sends what is to be sent of a kind. A failure leaves the earlier track, and `tick` applies it again. */
  async applyTrack(kind: TrackKind): Promise<void> {
    const sender = this.#transceivers.get(kind)?.sender;
    const track = this.#options.sent(kind);
    if (sender && sender.track !== track) await this.#unlessClosed(sender.replaceTrack(track)).catch(() => {});
  }

  /** Sends a message. Returns whether the channel took it. */
  sendMessage(text: string): boolean {
    if (this.#channel?.readyState !== 'open' || this.#channel.bufferedAmount > MAX_BUFFERED_BYTES) return false;
    this.#channel.send(text);
    return true;
  }

  /** Uses other servers from the next gathering on, and restarts ICE if `restarts`. */
  configure(configuration: RTCConfiguration, restarts: boolean): void {
    this.#configuration = configuration;
    this.#pc.setConfiguration(configuration);
    if (restarts) this.restart();
  }

  /** Finds a new way to the peer, in any state of the negotiation. What is sent goes on while the old way works. */
  restart(): void {
    if (this.#isClosed || this.#pc.remoteDescription === null) return;
    this.#pc.restartIce();
    // In `stable`, the browser asks for an offer. An offer whose answer may never arrive is replaced by another one,
    // and an offer that is being answered makes the state `stable`.
    if (this.#pc.signalingState === 'have-local-offer') void this.#sendOffer(this.#pc);
  }

  /** Signals are handled one after another. */
  receive(signal: Signal): void {
    this.#receiving = this.#receiving.then(async () => {
      if (this.#isClosed) return;
      try {
        await this.#handle(signal);
      } catch {
        // The connection was replaced meanwhile, or this browser refuses a description, such as one of a page that
        // lies. The recovery tries again, ever less often.
      }
    });
  }

  /** Repairs what has been broken for too long. Called about twice a second. */
  tick(now: number): void {
    if (this.#isClosed) return;
    for (const kind of trackKinds) void this.applyTrack(kind);
    const { connectionState, remoteDescription, signalingState } = this.#pc;
    // The peer may have answered the offer of a restart, and use other paths from then on. If the answer was lost, the
    // connection here still looks well.
    const negotiated = signalingState === 'have-local-offer' ? 'offering' : connectionState;
    const action = this.#recovery.step(now, remoteDescription === null ? 'unanswered' : negotiated);
    if (action === 'restart') this.restart();
    if (action === 'ask') this.#ask();
    if (action === 'reopen') this.renew();
  }

  /** Connects anew. */
  renew(): void {
    if (this.#isClosed) return;
    this.#reopen();
    this.#remoteSession = null;
    if (!this.#options.isInitiator) this.#send({});
    this.#options.onChange();
  }

  close(): void {
    this.#isClosed = true;
    this.#closeConnection();
  }

  #open(): RTCPeerConnection {
    const pc = new RTCPeerConnection(this.#configuration);
    this.#pc = pc;
    pc.onnegotiationneeded = () => void this.#sendOffer(pc);
    pc.onicecandidate = ({ candidate }) => {
      if (pc === this.#pc && candidate) this.#addCandidate(candidate);
    };
    pc.onconnectionstatechange = () => {
      if (pc !== this.#pc) return;
      if (pc.connectionState === 'connected') this.#wasConnected = true;
      this.tick(performance.now());
      this.#options.onChange();
    };
    if (this.#options.isInitiator) {
      for (const kind of trackKinds) this.#transceivers.set(kind, pc.addTransceiver(mediaOf(kind)));
      this.#prepare();
    }
    return pc;
  }

  #closeConnection(): void {
    clearTimeout(this.#batch);
    this.#pc.onconnectionstatechange = this.#pc.onnegotiationneeded = this.#pc.onicecandidate = null;
    this.#pc.close();
    this.#closing.reject();
    for (const giveUp of this.#unanswered) giveUp();
    this.#unanswered.clear();
  }

  /** Begins again with a new connection, which the peer recognizes by its session. */
  #reopen(): void {
    this.#closeConnection();
    this.#closing = createClosing();
    this.#session = createId();
    this.#transceivers.clear();
    this.#channel = null;
    [this.#offer, this.#answer, this.#setup] = [null, null, null];
    [this.#found, this.#candidates] = [[], []];
    [this.#isOffering, this.#isRemoteClosed] = [false, false];
    this.#receivedCandidates = 0;
    this.#recovery.restart();
    this.#pc = this.#open();
  }

  /**
   * Adds what is sent to the transceivers, and once the streams and the channel. Microphone and camera are kept in time
   * with each other. Other streams for the same senders would make Chromium ask for an offer after each answer.
   */
  #prepare(): void {
    for (const kind of this.#transceivers.keys()) void this.applyTrack(kind);
    if (this.#channel) return;
    const [person, screen] = [new MediaStream(), new MediaStream()];
    for (const [kind, { sender }] of this.#transceivers)
      sender.setStreams?.(kind === 'screen' || kind === 'screenAudio' ? screen : person);
    const channel = this.#pc.createDataChannel('page', { negotiated: true, id: CHANNEL_ID });
    this.#channel = channel;
    channel.onopen = () => this.#options.onChange();
    channel.onmessage = ({ data }) => this.#options.onMessage(data);
    channel.onclose = () => {
      if (channel !== this.#channel || this.#isClosed) return;
      // The page of the peer closed the connection, or went away, which is known much later otherwise.
      this.#isRemoteClosed = true;
      this.#options.onChange();
    };
  }

  async #sendOffer(pc: RTCPeerConnection): Promise<void> {
    if (pc !== this.#pc || this.#isClosed) return;
    // A browser may also ask because of other servers. A connection that was asked for an offer before it has its
    // transceivers refuses every description from then on (Chromium 156).
    if (this.#transceivers.size === 0) return;
    this.#isOffering = true;
    try {
      await pc.setLocalDescription();
      const description = pc.localDescription;
      if (pc !== this.#pc || description?.type !== 'offer') return;
      this.#offers += 1;
      // If a later offer leaves the parts open, Firefox may change its own, and then nothing is understood any more.
      const sdp = description.sdp.replaceAll(/^a=setup:actpass/gm, `a=setup:${this.#setup ?? 'actpass'}`);
      const offer: Offer = { number: this.#offers, sdp, mids: this.#readMids() };
      this.#offer = { signal: this.#send({ offer }), number: this.#offers };
    } catch {
      // The state has changed meanwhile, and the browser asks again.
    } finally {
      if (pc === this.#pc) this.#isOffering = false;
    }
  }

  #readMids(): Record<TrackKind, string> {
    const mid = (kind: TrackKind): string => this.#transceivers.get(kind)?.mid ?? '';
    return {
      microphone: mid('microphone'),
      camera: mid('camera'),
      screen: mid('screen'),
      screenAudio: mid('screenAudio'),
    };
  }

  /** Asks for what is missing: an answer to the offer, or an offer. */
  #ask(): void {
    if (this.#offer && this.#pc.signalingState === 'have-local-offer') this.#sendAgain(this.#offer);
    else if (!this.#options.isInitiator) this.#send({});
  }

  #send(content: Omit<Signal, 'session' | 'peer'>): Signal {
    const signal: Signal = { session: this.#session, peer: this.#remoteSession, ...content };
    this.#options.send(signal);
    return signal;
  }

  /**
   * To the present connection of the peer, which may not be the one that was known the first time, and has missed the
   * candidates too.
   */
  #sendAgain({ signal }: Description): void {
    const candidates = this.#candidates.length > 0 ? { candidates: this.#candidates } : {};
    this.#options.send({ ...signal, peer: this.#remoteSession, ...candidates });
  }

  #addCandidate(candidate: RTCIceCandidate): void {
    const { candidate: text, sdpMid, sdpMLineIndex, usernameFragment } = candidate;
    const found = { candidate: text, sdpMid, sdpMLineIndex, usernameFragment };
    this.#candidates = [...this.#candidates, found].slice(-MAX_CANDIDATES);
    this.#found.push(found);
    if (this.#found.length > 1) return;
    this.#batch = setTimeout(() => {
      while (this.#found.length > 0) this.#send({ candidates: this.#found.splice(0, MAX_CANDIDATES) });
    }, BATCH_MS);
  }

  /** What a connection does when it is closed never ends. Nothing may wait for it, such as the signals that follow. */
  #unlessClosed<Value>(operation: Promise<Value>): Promise<Value> {
    return Promise.race([operation, this.#closing.promise]);
  }

  async #handle({ session, peer, offer, answer, candidates = [] }: Signal): Promise<void> {
    // Meant for a connection that this page has replaced.
    if (peer !== null && peer !== this.#session) return;
    if (session !== this.#remoteSession) {
      // The peer has begun again, which the connection to its earlier one cannot follow.
      if (this.#pc.remoteDescription !== null) {
        this.#reopen();
        this.#options.onChange();
      }
      this.#remoteSession = session;
      this.#answer = null;
    }
    if (offer) await this.#handleOffer(offer);
    if (answer) await this.#handleAnswer(answer);
    if (!offer && !answer && candidates.length === 0) this.#ask();
    for (const candidate of candidates) await this.#handleCandidate(candidate);
  }

  async #handleOffer({ number, sdp, mids }: Offer): Promise<void> {
    if (this.#answer && number <= this.#answer.number) {
      if (number === this.#answer.number) this.#sendAgain(this.#answer);
      return;
    }
    const pc = this.#pc;
    const hasCrossed = this.#isOffering || pc.signalingState !== 'stable';
    if (hasCrossed && this.#options.isInitiator) return;
    await this.#unlessClosed(pc.setRemoteDescription({ type: 'offer', sdp }));
    this.#takeTransceivers(mids);
    this.#prepare();
    await this.#unlessClosed(pc.setLocalDescription());
    if (pc !== this.#pc || pc.localDescription?.type !== 'answer') return;
    const answer: Answer = { number, sdp: pc.localDescription.sdp };
    this.#setup ??= isActive(answer.sdp) ? 'active' : 'passive';
    this.#answer = { signal: this.#send({ answer }), number };
    this.#receivedCandidates = 0;
    this.#options.onChange();
  }

  async #handleAnswer({ number, sdp }: Answer): Promise<void> {
    if (number !== this.#offer?.number || this.#pc.signalingState !== 'have-local-offer') return;
    await this.#unlessClosed(this.#pc.setRemoteDescription({ type: 'answer', sdp }));
    this.#setup ??= isActive(sdp) ? 'passive' : 'active';
    this.#receivedCandidates = 0;
    this.#options.onChange();
  }

  async #handleCandidate(candidate: Candidate): Promise<void> {
    this.#receivedCandidates += 1;
    if (this.#receivedCandidates > MAX_RECEIVED_CANDIDATES || this.#pc.remoteDescription === null) return;
    // A candidate of an offer that was ignored or replaced.
    await this.#unlessClosed(this.#pc.addIceCandidate(candidate).catch(() => {}));
  }

  /** Finds the transceivers that the peer named. Throws if they are not there, or of another kind. */
  #takeTransceivers(mids: Offer['mids']): void {
    const all = this.#pc.getTransceivers();
    for (const kind of trackKinds) {
      const found = all.find(({ mid }) => mid === mids[kind]);
      if (found?.receiver.track.kind !== mediaOf(kind)) throw new TypeError(`The offer has no transceiver for ${kind}`);
      found.direction = 'sendrecv';
      this.#transceivers.set(kind, found);
    }
  }
}

function isActive(sdp: string): boolean {
  return /^a=setup:active/m.test(sdp);
}

/** A promise that rejects once the connection is closed, and never resolves. */
function createClosing(): { promise: Promise<never>; reject(): void } {
  let reject = (): void => {};
  const promise = new Promise<never>((_resolve, rejectPromise) => {
    reject = () => rejectPromise(new Error('The connection was closed'));
  });
  promise.catch(() => {});
  return { promise, reject };
}
