/**
 * A stub of `livekit-client`: the part of its interface that meetings use, for the server of the tests
 * (`test/livekit/livekit-server.ts`), which only passes messages on. Pictures and sounds go from page to page.
 */
import type { Page } from 'playwright-core';

/** Gives the page the stub in place of LiveKit's client. Returns the URLs by which the page asked for it. */
export async function stubLivekit(page: Page): Promise<string[]> {
  const asked: string[] = [];
  await page.route('**/assets/livekit-room-*.js', (route) => {
    asked.push(route.request().url());
    return route.fulfill({ contentType: 'text/javascript', body: STUB });
  });
  return asked;
}

const STUB = `
  const SOURCES = ['microphone', 'camera', 'screen_share', 'screen_share_audio'];
  const isPicture = (source) => source === 'camera' || source === 'screen_share';
  const identityOf = (token) => JSON.parse(atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).sub;

  /** For tests: the tokens with which the page has connected, and the layers of pictures that it has asked for. */
  globalThis.livekit = { tokens: [], qualities: [] };

  class Publication {
    constructor(room, source, track) {
      Object.assign(this, { room, source, isMuted: false });
      this.track = {
        mediaStreamTrack: track,
        replaceTrack: async (next) => {
          this.track.mediaStreamTrack = next;
          await room.sendAll();
        },
      };
    }
    async mute() {
      this.isMuted = true;
      this.track.mediaStreamTrack.enabled = false;
      this.room.announce();
      this.room.emit('trackMuted', this, this.room.localParticipant);
    }
    async unmute() {
      this.isMuted = false;
      this.track.mediaStreamTrack.enabled = true;
      this.room.announce();
    }
  }

  class Remote {
    constructor(room, identity) {
      Object.assign(this, { room, identity, published: {}, transceivers: [] });
      this.pc = new RTCPeerConnection();
      this.isOffering = room.identity < identity;
      if (this.isOffering) void this.offer();
    }
    get audioLevel() {
      return this.transceivers[0]?.receiver.getSynchronizationSources()[0]?.audioLevel ?? 0;
    }
    getTrackPublication(source) {
      const state = this.published[source];
      const receiver = this.transceivers[SOURCES.indexOf(source)]?.receiver;
      if (!state || !receiver) return undefined;
      return {
        isMuted: state.isMuted,
        track: {
          mediaStreamTrack: receiver.track,
          streamState: 'active',
          getRTCStatsReport: () => receiver.getStats(),
        },
        setVideoQuality: (quality) => livekit.qualities.push(quality),
      };
    }
    async offer() {
      this.transceivers = SOURCES.map((source) => this.pc.addTransceiver(isPicture(source) ? 'video' : 'audio'));
      await this.describe();
    }
    async describe() {
      await this.pc.setLocalDescription();
      if (this.pc.iceGatheringState !== 'complete')
        await new Promise((resolve) =>
          this.pc.addEventListener('icecandidate', ({ candidate }) => candidate ?? resolve()),
        );
      this.room.post(this.identity, { type: 'description', description: this.pc.localDescription });
    }
    async take(description) {
      await this.pc.setRemoteDescription(description);
      if (description.type === 'offer') {
        this.transceivers = this.pc.getTransceivers();
        for (const transceiver of this.transceivers) transceiver.direction = 'sendrecv';
        await this.describe();
      }
      await this.send();
      this.room.announce();
    }
    async send() {
      for (const [index, { sender }] of this.transceivers.entries()) {
        const track = this.room.publications.get(SOURCES[index])?.track.mediaStreamTrack ?? null;
        if (sender.track !== track) await sender.replaceTrack(track);
      }
    }
  }

  export class Room {
    state = 'disconnected';
    remoteParticipants = new Map();
    publications = new Map();
    listeners = new Map();
    localParticipant = {
      publishTrack: async (track, { source }) => {
        if (this.publications.has(source)) throw new Error('Published twice: ' + source);
        const publication = new Publication(this, source, track);
        this.publications.set(source, publication);
        await this.sendAll();
        this.announce();
        return publication;
      },
      unpublishTrack: async (track) => {
        for (const [source, publication] of this.publications)
          if (publication.track.mediaStreamTrack === track) this.publications.delete(source);
        await this.sendAll();
        this.announce();
      },
      publishData: async (data, { topic }) => {
        const message = { type: 'data', topic, data: [...data] };
        for (const identity of this.remoteParticipants.keys()) this.post(identity, message);
      },
    };
    on(event, listener) {
      this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
      return this;
    }
    emit(event, ...input) {
      for (const listener of this.listeners.get(event) ?? []) listener(...input);
    }
    connect(url, token) {
      livekit.tokens.push(token);
      this.identity = identityOf(token);
      this.page = url.replace(/^ws/, 'http') + '/page?access_token=' + token;
      this.stream = new EventSource(this.page);
      return new Promise((resolve, reject) => {
        this.stream.onmessage = ({ data }) => {
          const message = JSON.parse(data);
          if (message.type !== 'joined') return void this.handle(message);
          this.state = 'connected';
          for (const identity of message.others) this.add(identity);
          resolve();
        };
        this.stream.onerror = () => {
          this.close();
          reject(new Error('could not establish signal connection'));
        };
      });
    }
    async disconnect() {
      this.close();
    }
    close() {
      if (this.state === 'closed') return;
      this.state = 'closed';
      this.stream.close();
      for (const { pc } of this.remoteParticipants.values()) pc.close();
      this.remoteParticipants.clear();
      this.state = 'disconnected';
      this.emit('disconnected');
    }
    add(identity) {
      if (!this.remoteParticipants.has(identity)) this.remoteParticipants.set(identity, new Remote(this, identity));
      this.emit('participantConnected');
      return this.remoteParticipants.get(identity);
    }
    async handle({ type, from, description, published, topic, data }) {
      if (type === 'mute') return void this.publications.get('microphone')?.mute();
      if (type === 'left') {
        this.remoteParticipants.get(from)?.pc.close();
        this.remoteParticipants.delete(from);
        return this.emit('participantDisconnected');
      }
      const remote = this.add(from);
      if (type === 'description') await remote.take(description);
      if (type === 'published') {
        remote.published = published;
        this.emit('trackSubscribed');
      }
      if (type === 'data') this.emit('dataReceived', new Uint8Array(data), remote, 0, topic);
    }
    post(to, message) {
      void fetch(this.page, { method: 'POST', body: JSON.stringify({ to, ...message }) });
    }
    announce() {
      const entries = [...this.publications].map(([source, { isMuted }]) => [source, { isMuted }]);
      const published = Object.fromEntries(entries);
      for (const identity of this.remoteParticipants.keys()) this.post(identity, { type: 'published', published });
    }
    async sendAll() {
      for (const remote of this.remoteParticipants.values()) await remote.send();
    }
  }
`;
