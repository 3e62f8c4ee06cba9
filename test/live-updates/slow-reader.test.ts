/** A reader who does not read: what the server holds for it, and what the others notice. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { emit } from '../../src/events/emit.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { openEventStream, type ReceivedStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

/** The length of an event, and how many are written at a time: less than a stream may have waiting. */
const LENGTH = 64 * 1024;
const AT_A_TIME = 3;
/** What the process may hold of a response that waits to be sent: a frame beyond the buffer of the socket. */
const MAX_UNSENT = 4 * LENGTH;
/** How many events of 100,000 characters are more than may wait. */
const BURST = 4;
/** More than the buffers of the operating system can take. */
const MAX_WRITTEN = 1_000;

let app: TestApp;
let delivery: TestDelivery;
let team: Team;
const sockets = new Set<Socket>();
beforeAll(async () => {
  app = await startTestApp();
  app.server.on('connection', (socket) => sockets.add(socket));
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
});

let written = 0;

async function write(count: number, length = LENGTH): Promise<void> {
  const { db, clock } = app.services;
  await transact(db, async (tx) => {
    for (let index = 0; index < count; index += 1) {
      written += 1;
      const item = { workspace_id: team.id, item_id: written, mime_type: 'application/pdf', size: 1 };
      const data = { ...item, name: 'x'.repeat(length), deleted_by: null, deleted_by_name: null };
      await emit(sqlIn(tx), clock.now(), { type: 'library_item.deleted', workspaceId: team.id, data });
    }
  });
}

const streamUrl = (): string => `${app.url}${team.path}/events/stream`;
/** The events of adding the team can arrive late, and are left out. */
const itemsOf = ({ events }: ReceivedStream): number[] =>
  events.filter(({ event }) => event === 'library_item.deleted').map(({ data }) => data.data.item_id);
const itemsIn = (text: string): number[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => [...(/"item_id":(\d+)/.exec(block)?.slice(1) ?? [])].map(Number));

/** Opens a stream, and reads nothing of it. */
async function openUnread(): Promise<IncomingMessage> {
  const request = get(streamUrl(), { headers: { authorization: `Bearer ${team.member.token}` } });
  const [response] = await once(request, 'response');
  return response;
}

/** Reads what is left of a response, which may have been cut off. */
async function readRest(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await once(response, 'close').catch(() => {});
  return text;
}

test('a reader that does not read is cut off, holds little memory, and resumes without loss', async () => {
  const reader = await openEventStream(streamUrl(), team.owner.token);
  await reader.first('stream.opened');
  const unread = await openUnread();
  const ownSocket = [...sockets].find(({ remotePort }) => remotePort === unread.socket.localPort);
  let maxUnsent = 0;
  while (app.services.live.use().open === 2 && written < MAX_WRITTEN) {
    await write(AT_A_TIME);
    await eventually(async () => itemsOf(reader).length === written);
    maxUnsent = Math.max(maxUnsent, ownSocket?.writableLength ?? Number.NaN);
  }
  expect(app.services.live.use().open).toBe(1);
  expect(maxUnsent).toBeGreaterThan(0);
  expect(maxUnsent).toBeLessThan(MAX_UNSENT);
  const ended = await eventually(async () => app.logLines.find(({ msg, code }) => msg === 'request' && code));
  expect(ended).toMatchObject({ code: 'REQUEST_TIMEOUT', status: 200 });
  // What is not sent is only in the log of events, not in memory.
  await write(AT_A_TIME);
  await eventually(async () => itemsOf(reader).length === written);

  const text = await readRest(unread);
  const before = itemsIn(text);
  expect(before.length).toBeLessThan(written - AT_A_TIME);
  const lastId = [...text.matchAll(/^id: (\d+)\n(?:.+\n)+\n/gm)].at(-1)?.[1] ?? '';
  const resumed = await openEventStream(streamUrl(), team.member.token, { 'last-event-id': lastId });
  await eventually(async () => before.length + itemsOf(resumed).length === written);
  expect([...before, ...itemsOf(resumed)]).toEqual(Array.from({ length: written }, (_, index) => index + 1));
  for (const stream of [reader, resumed]) stream.close();
});

test('a burst that is longer than what may wait ends no subscription for good', async () => {
  const received: number[] = [];
  const errors: unknown[] = [];
  let isOpen = false;
  const { unsubscribe } = createClient({ url: app.url, token: team.owner.token }).events.live.subscribe(
    { id: team.id },
    {
      onData({ data }) {
        isOpen ||= data.event === 'stream.opened';
        if (data.event === 'library_item.deleted') received.push(data.data.item_id);
      },
      onError: (error) => errors.push(error),
    },
  );
  await eventually(async () => isOpen);
  const first = written + 1;
  // All become visible at once, and are added before the first is sent.
  await write(BURST, 100_000);
  await eventually(async () => received.at(-1) === written || errors.length > 0);
  expect(errors).toEqual([]);
  expect(received).toEqual(Array.from({ length: BURST }, (_, index) => first + index));
  unsubscribe();
});
