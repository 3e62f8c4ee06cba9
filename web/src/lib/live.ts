/** Live updates of the workspace that the page shows. */
import type { LiveEvent, Outputs } from '@lynxroom/client';
import type { Query } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client, queryClient } from './client.ts';
import { OPTIMISTIC_KEY } from './optimistic.ts';

/** For what changes without an event, such as the participants who wait. */
export const LIVE_POLL_MS = 5_000;

/** The service refuses a stream for ever if the role changed, and for a while if there are too many. */
const REOPEN_MS = 60_000;

/** Many events of the same moment lead to one read, and a stream of them to one each second. */
const FIRST_DELAY_MS = 100;
const NEXT_DELAY_MS = 1_000;

/** A router of the API, whose answers are read again. */
type Topic = keyof Outputs & string;

const bookingTopics: readonly Topic[] = ['bookings', 'contacts', 'rooms'];
const visitTopics: readonly Topic[] = ['rooms', 'participants', 'contacts'];
const allTopics: readonly Topic[] = [
  ...(['bookings', 'contacts', 'library', 'participants'] as const),
  ...(['recordings', 'rooms', 'webhooks', 'workspaces'] as const),
];

/** What an event changes, besides the messages of webhooks. */
const topicsOf: Record<LiveEvent['event'], readonly Topic[]> = {
  'stream.opened': allTopics,
  'stream.reset': allTopics,
  'room.created': ['rooms'],
  'room.joined': visitTopics,
  'room.left': visitTopics,
  'recording.started': ['recordings', 'rooms'],
  'recording.completed': ['recordings', 'rooms'],
  'member.joined': ['workspaces'],
  'member.left': ['workspaces'],
  'library_item.uploaded': ['library'],
  'library_item.deleted': ['library'],
  'booking.created': bookingTopics,
  'booking.rescheduled': bookingTopics,
  'booking.cancelled': bookingTopics,
  'contact.created': ['contacts'],
};

/**
 * Keeps the cached answers of a workspace up to date while the page is open. The layout of `/w/$workspaceId` calls it
 * once. Without a stream, it reads every `LIVE_POLL_MS`.
 */
export function useLive(workspaceId: number): void {
  useEffect(() => followWorkspace(workspaceId), [workspaceId]);
}

/** Returns a function that ends it. */
function followWorkspace(id: number): () => void {
  const refresher = createRefresher();
  let lastEventId: string | undefined;
  let isOpen = false;
  let subscription: { unsubscribe(): void } | undefined;
  let reopening: ReturnType<typeof setTimeout> | undefined;

  function listen(): void {
    subscription = client.events.live.subscribe(
      { id, ...(lastEventId !== undefined && { lastEventId }) },
      {
        onConnectionStateChange({ state }) {
          isOpen = state === 'pending';
        },
        onData(message) {
          lastEventId = message.id;
          refresher.add([...topicsOf[message.data.event], 'webhooks']);
        },
        onError() {
          isOpen = false;
          reopening = setTimeout(onVisibility, REOPEN_MS);
        },
      },
    );
  }

  function pause(): void {
    clearTimeout(reopening);
    subscription?.unsubscribe();
    subscription = undefined;
    isOpen = false;
  }

  // A browser has six connections to a server without HTTP/2, for all tabs: those that nobody sees leave theirs.
  function onVisibility(): void {
    pause();
    if (!document.hidden) listen();
  }

  const polling = setInterval(() => {
    if (!isOpen && !document.hidden) refresher.add(allTopics);
  }, LIVE_POLL_MS);
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    clearInterval(polling);
    pause();
    refresher.stop();
  };
}

/** Reads answers again soon after their topic was added, and one time after the other. */
function createRefresher(): { add(topics: readonly Topic[]): void; stop(): void } {
  const due = new Set<Topic>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  async function refresh(): Promise<void> {
    // The answers of this moment do not have the change that a user sees already.
    if (queryClient.isMutating({ mutationKey: OPTIMISTIC_KEY }) === 0) {
      const topics = [...due];
      due.clear();
      await Promise.all(topics.map(readAgain));
    }
    timer = undefined;
    if (due.size > 0) start(NEXT_DELAY_MS);
  }

  async function readAgain(topic: Topic): Promise<void> {
    const queryKey = [[topic]];
    // The first read may have begun before the change, and is not begun again while it is under way.
    if (queryClient.isFetching({ queryKey, predicate: ({ state }) => state.data === undefined }) > 0) due.add(topic);
    await queryClient.invalidateQueries({ queryKey, predicate: isLive });
  }

  function start(delayMs: number): void {
    if (timer === undefined && !isStopped) timer = setTimeout(() => void refresh(), delayMs);
  }

  return {
    add(topics) {
      for (const topic of topics) due.add(topic);
      start(FIRST_DELAY_MS);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

/** A failure stays until the user tries again. A new URL of a download would start its video again. */
function isLive({ queryKey, state }: Query): boolean {
  const [path] = queryKey;
  return state.data !== undefined && !(Array.isArray(path) && path[1] === 'download');
}
