/** Live updates of the workspace that the page shows. */
import type { LiveEvent, Outputs } from '@lynxroom/client';
import type { Query } from '@tanstack/react-query';
import { useEffect } from 'react';
import { client, queryClient } from './client.ts';
import { OPTIMISTIC_KEY } from './optimistic.ts';

/** For what changes without an event, such as the participants who wait. */
export const LIVE_POLL_MS = 5_000;

/** For what changes without an event for this person: members get none about the visits and recordings of others. */
export const MEMBER_POLL_MS = 15_000;

/**
 * How long to wait before a refused stream is opened again. The refusal is permanent if the user has lost access, and
 * temporary if the user has too many streams open.
 */
const REOPEN_MS = 60_000;

/** Events that arrive together cause one refetch. Events that keep arriving cause one each second. */
const FIRST_DELAY_MS = 100;
const NEXT_DELAY_MS = 1_000;

/** A router of the API, whose answers are refetched. */
type Topic = keyof Outputs & string;

const bookingTopics: readonly Topic[] = ['bookings', 'contacts', 'rooms'];
const visitTopics: readonly Topic[] = ['rooms', 'participants', 'meetings', 'contacts'];
const recordingTopics: readonly Topic[] = ['recordings', 'rooms', 'meetings'];
const libraryTopics: readonly Topic[] = ['library', 'trash'];
const allTopics: readonly Topic[] = [
  'bookings',
  'contacts',
  'library',
  'meetings',
  'members',
  'participants',
  'recordings',
  'rooms',
  'trash',
  'webhooks',
  'workspaces',
];

/** What an event changes, besides the messages of webhooks. */
const topicsOf: Record<LiveEvent['event'], readonly Topic[]> = {
  'stream.opened': allTopics,
  'stream.reset': allTopics,
  'room.created': ['rooms'],
  'room.joined': visitTopics,
  'room.left': visitTopics,
  'recording.started': recordingTopics,
  'recording.completed': recordingTopics,
  'member.joined': ['members', 'workspaces'],
  'member.left': ['members', 'workspaces'],
  'library_item.uploaded': libraryTopics,
  'library_item.updated': ['library'],
  'library_item.deleted': libraryTopics,
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

  // Without HTTP/2, a browser opens at most six connections to a server, for all tabs together. So a hidden tab closes
  // its stream.
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

/** Refetches the answers of a topic soon after it was added. Only one refetch runs at a time. */
function createRefresher(): { add(topics: readonly Topic[]): void; stop(): void } {
  const due = new Set<Topic>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  async function refresh(): Promise<void> {
    // During an optimistic change, an answer may not contain the change yet, and would hide it for a moment.
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
    // A first load may have started before the change, and invalidating does not restart it. So the topic stays due.
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

/** Failed queries stay until the user tries again. Download URLs stay, because a new URL would restart the video. */
function isLive({ queryKey, state }: Query): boolean {
  const [path] = queryKey;
  return state.data !== undefined && !(Array.isArray(path) && path[1] === 'download');
}
