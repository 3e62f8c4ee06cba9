/**
 * The reader of the event log. Each process has one, regardless of the number of streams. When the relay has numbered
 * new events, the reader uses one statement to read the events of all workspaces with listeners.
 */
import type { Log } from '../core/log.ts';
import type { Database } from '../db/client.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import { type LoggedEvent, MAX_EVENTS, type Position, readEvents } from './event-log.ts';

export type EventFeed = {
  /**
   * Calls `receive` with each event of the workspace after `position`, in order. Returns a function that stops the
   * calls. Returns null if the feed has already read beyond `position`: the caller must then read the log itself and
   * try again.
   */
  join(position: Position, receive: (event: LoggedEvent) => void): (() => void) | null;
  /** Reads new events of these workspaces immediately; null means all workspaces. */
  wake(workspaceIds: readonly number[] | null): void;
  stop(): Promise<void>;
};

/** A workspace with listeners. */
type Channel = {
  /** The listeners have received all events up to this sequence. */
  sequence: number;
  listeners: Set<(event: LoggedEvent) => void>;
};

/** Notifications wake the feed. Reading all workspaces at this interval makes up for lost notifications. */
const READ_ALL_EVERY_MS = 2_000;
/** The maximum number of workspaces that one statement reads. */
const MAX_WORKSPACES = 500;

export function startEventFeed({ db, log }: { db: Pick<Database, 'sql'>; log: Log }): EventFeed {
  const channels = new Map<number, Channel>();
  /** Workspaces that may have new events. */
  const pending = new Set<number>();
  let readAllAt = performance.now() + READ_ALL_EVERY_MS;
  const waitMs = (): number => (pending.size > 0 ? 0 : Math.max(1, readAllAt - performance.now()));

  const poll = async (): Promise<number> => {
    if (performance.now() >= readAllAt) {
      readAllAt = performance.now() + READ_ALL_EVERY_MS;
      for (const workspaceId of channels.keys()) pending.add(workspaceId);
    }
    const positions = takePositions(channels, pending);
    if (positions.length === 0) return waitMs();
    try {
      const events = await readEvents(db, positions);
      for (const workspaceId of findUnfinished(events)) pending.add(workspaceId);
      for (const event of events) pass(event, channels.get(event.workspaceId));
    } catch (error) {
      for (const { workspaceId } of positions) pending.add(workspaceId);
      throw error;
    }
    return waitMs();
  };

  const loop = startPollLoop({ name: 'live updates', poll, log });
  return {
    join({ workspaceId, sequence }, receive) {
      const channel = channels.get(workspaceId) ?? { sequence, listeners: new Set() };
      if (sequence < channel.sequence) return null;
      channels.set(workspaceId, channel);
      channel.listeners.add(receive);
      pending.add(workspaceId);
      loop.wake();
      return () => {
        channel.listeners.delete(receive);
        if (channel.listeners.size === 0 && channels.get(workspaceId) === channel) channels.delete(workspaceId);
      };
    },
    wake(workspaceIds) {
      for (const workspaceId of workspaceIds ?? channels.keys())
        if (channels.has(workspaceId)) pending.add(workspaceId);
      if (pending.size > 0) loop.wake();
    },
    stop: loop.stop,
  };
}

function takePositions(channels: ReadonlyMap<number, Channel>, pending: Set<number>): Position[] {
  const positions: Position[] = [];
  for (const workspaceId of pending) {
    if (positions.length === MAX_WORKSPACES) break;
    pending.delete(workspaceId);
    const channel = channels.get(workspaceId);
    if (channel) positions.push({ workspaceId, sequence: channel.sequence });
  }
  return positions;
}

/** Returns the workspaces that may have more events. */
function findUnfinished(events: readonly LoggedEvent[]): number[] {
  const byWorkspace = Map.groupBy(events, ({ workspaceId }) => workspaceId);
  return [...byWorkspace].flatMap(([workspaceId, list]) => (list.length === MAX_EVENTS ? [workspaceId] : []));
}

/**
 * Passes an event to the listeners. Skips old events: during the read, the listeners may have left, and others may have
 * joined at a later position.
 */
function pass(event: LoggedEvent, channel: Channel | undefined): void {
  if (channel === undefined || event.sequence <= channel.sequence) return;
  channel.sequence = event.sequence;
  for (const receive of channel.listeners) receive(event);
}
