/** Pages in a meeting, for the tests of peers and signals. They read the stream of the REST API. */
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { openEventStream, type ReceivedEvent, type ReceivedStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer, Http } from '../support/http.ts';

/** A server, in the process of the test or of its own. */
export type Server = { url: string; http: Http };

export type Visitor = { app: Server; room: string; id: number; name: string; token: string };

export type Page = Visitor & {
  connectionId: string;
  stream: ReceivedStream;
  /** The data of the last `peers` message; undefined before the first. */
  // biome-ignore lint/suspicious/noExplicitAny: tests check the shape
  peers(): any;
  signals(): ReceivedEvent['data'][];
};

/** Joins as a guest, or as the holder of `session`. */
export async function join(app: Server, room: string, name: string, session?: string): Promise<Visitor> {
  const { status, body } = await app.http.post(`/api/rooms/${room}/join`, session, { name });
  expect([status, body.message]).toEqual([200, undefined]);
  return { app, room, id: body.participant.id, name, token: body.participant.token };
}

export function newConnectionId(): string {
  return randomUUID().replaceAll('-', '');
}

/** Opens the stream of a page. Waits for the first message. `app` may be another process than that of the visitor. */
export async function openPage(visitor: Visitor, connectionId = newConnectionId(), app = visitor.app): Promise<Page> {
  const query = `token=${visitor.token}&peers=1&connection_id=${connectionId}`;
  const stream = await openEventStream(`${app.url}/api/rooms/${visitor.room}/presence/stream?${query}`, undefined);
  await eventually(async () => stream.events[0]);
  const dataOf = (event: string) => stream.events.filter((one) => one.event === event).map(({ data }) => data.data);
  return {
    ...visitor,
    app,
    connectionId,
    stream,
    peers: () => dataOf('peers').at(-1),
    signals: () => dataOf('signal'),
  };
}

/** Joins and opens a page, which is listed by the page itself once it has a list of the others. */
export async function enter(app: Server, room: string, name: string, session?: string): Promise<Page> {
  const page = await openPage(await join(app, room, name, session));
  await page.stream.first('peers');
  return page;
}

export function signal(
  from: Page,
  to: { id: number; connectionId: string },
  data: unknown,
  app = from.app,
): Promise<Answer> {
  return app.http.post(`/api/rooms/${from.room}/signals`, undefined, {
    token: from.token,
    connection_id: from.connectionId,
    to: to.id,
    to_connection_id: to.connectionId,
    data,
  });
}

/** Waits until the page lists exactly these connections of others, in this order; null is somebody without a page. */
export async function expectPeers(page: Page, connections: (string | null)[]): Promise<void> {
  await expect
    .poll(() => page.peers()?.peers.map((peer: { connection_id: string | null }) => peer.connection_id), {
      timeout: 20_000,
    })
    .toEqual(connections);
}
