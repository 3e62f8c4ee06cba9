/** Carries the media as the service says at the moment: browser to browser, or by a LiveKit server. */
import { isLynxroomError } from '@lynxroom/client';
import type { Carrier, CarrierOptions } from './carrier.ts';
import { LivekitCarrier, type LivekitOptions } from './livekit-carrier.ts';
import type { MemberOptions } from './member.ts';
import { Mesh } from './mesh.ts';
import type { MeetingMedia, PeerInfo } from './types.ts';

export type MediaCarrierOptions = CarrierOptions &
  Pick<MemberOptions, 'post'> &
  Pick<LivekitOptions, 'onMuted' | 'onError'> & {
    /** Without it, nothing is carried where a LiveKit server does. */
    loadLivekit: LivekitOptions['load'] | undefined;
  };

/** Returns a carrier that hands over to another one when the kind of the media changes. */
export function createMediaCarrier(options: MediaCarrierOptions): Carrier {
  const { loadLivekit, onError } = options;
  let isLivekit = false;
  let infos: readonly PeerInfo[] = [];
  let current: Carrier = createMesh();

  function createMesh(): Mesh {
    return new Mesh({
      ...options,
      onRefused(error) {
        // This participant is no longer in the mesh, which the stream says too.
        const isKnown = isLynxroomError(error) && [401, 403, 409].includes(error.status);
        if (!isKnown) onError(error);
      },
    });
  }

  function choose(media: MeetingMedia | null): void {
    const load = media?.kind === 'livekit' ? loadLivekit : undefined;
    if (media === null || (load !== undefined) === isLivekit) return;
    isLivekit = load !== undefined;
    current.close();
    current = load === undefined ? createMesh() : new LivekitCarrier({ ...options, load });
    current.setPeers(infos);
  }

  return {
    get speaker() {
      return current.speaker;
    },
    describe: () => current.describe(),
    setMedia(media) {
      choose(media);
      current.setMedia(media);
    },
    setPeers(next) {
      infos = next;
      current.setPeers(next);
    },
    receive: (from, connectionId, data) => current.receive(from, connectionId, data),
    send: (message) => current.send(message),
    applyTrack: (kind) => current.applyTrack(kind),
    repairNow: () => current.repairNow(),
    retrySignals: () => current.retrySignals(),
    getStats: () => current.getStats(),
    readLevel: (id) => current.readLevel(id),
    close: () => current.close(),
  };
}
