/** Listing deliveries: which ones, in which order, with which fields. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transports } from '../contract/transports.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const START = Date.parse('2026-03-01T00:00:00Z');
const COUNT = 120;

let app: TestApp;
let team: Team;
let path: string;
let webhookId: number;

async function addWebhook(): Promise<number> {
  const input = { name: 'Chat', url: 'https://example.com/', events: ['room.created'] };
  const { body } = await app.http.post(`${team.path}/webhooks`, team.owner.token, input);
  return body.webhook.id;
}

/** Adds attempts at a webhook: two in each second, three for each message. */
async function addDeliveries(to: number, count: number): Promise<void> {
  const { db } = app.services;
  const at = new Date(START);
  const toId = (message: number): string => `msg_${to}_${message}`;
  await db.webhookMessage.createMany({
    data: Array.from({ length: Math.ceil(count / 3) }, (_, message) => ({
      workspaceId: team.id,
      id: toId(message),
      webhookId: to,
      event: 'room.created',
      payload: JSON.stringify({ event: 'room.created', data: { room_name: `room-${message} "🐈"` } }),
      status: 'delivered',
      createdAt: at,
      updatedAt: at,
    })),
  });
  await db.webhookDelivery.createMany({
    data: Array.from({ length: count }, (_, index) => ({
      workspaceId: team.id,
      webhookId: to,
      messageId: toId(Math.floor(index / 3)),
      attempt: (index % 3) + 1,
      responseStatus: index % 3 === 2 ? 200 : index % 3 === 1 ? 503 : 0,
      responseBody: index % 3 === 2 ? 'ok' : 'No response within 10 s',
      success: index % 3 === 2,
      durationMs: index,
      createdAt: new Date(START + Math.floor(index / 2) * 1000),
    })),
  });
}

beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  webhookId = await addWebhook();
  path = `${team.path}/webhooks/${webhookId}/deliveries`;
  await addDeliveries(webhookId, COUNT);
  await addDeliveries(await addWebhook(), 3);
});
afterAll(() => app.close());

async function read(query = '', token = team.admin.token) {
  const { status, body } = await app.http.get(path + query, token);
  expect(status).toBe(200);
  return body.deliveries as Record<string, unknown>[];
}

test('are those of this webhook, newest first, by id within a millisecond, 50 at a time', async () => {
  const newest = await read();
  expect(newest.length).toBe(50);
  const all = [...newest, ...(await read('?offset=50')), ...(await read('?offset=100'))];
  expect(all.length).toBe(COUNT);
  expect(new Set(all.map(({ id }) => id)).size).toBe(COUNT);
  expect(all.map(({ id }) => Number(id))).toEqual(all.map(({ id }) => Number(id)).sort((a, b) => b - a));
  expect(all[0]?.created_at).toBe(START / 1000 + COUNT / 2 - 1);
  for (const delivery of all) expect(delivery.webhook_id).toBe(webhookId);
});

test('have exactly these fields', async () => {
  const [last] = await read('?limit=1');
  expect(last).toEqual({
    id: expect.any(Number),
    webhook_id: webhookId,
    delivery_id: `msg_${webhookId}_39`,
    attempt: 3,
    event: 'room.created',
    sequence: null,
    payload: '{"event":"room.created","data":{"room_name":"room-39 \\"🐈\\""}}',
    response_status: 200,
    response_body: 'ok',
    success: 1,
    duration_ms: 119,
    created_at: START / 1000 + 59,
  });
  const [failed] = await read('?limit=1&offset=2');
  expect(failed).toMatchObject({
    attempt: 1,
    response_status: 0,
    response_body: 'No response within 10 s',
    success: 0,
  });
});

test('limit and offset select a part of the list', async () => {
  const all = await read('?limit=100');
  expect(all.length).toBe(100);
  expect(await read('?limit=2&offset=3')).toEqual(all.slice(3, 5));
  expect(await read(`?offset=${COUNT}`)).toEqual([]);
  expect(await read('?offset=2147483647')).toEqual([]);
});

test('outcome and event select attempts, add up, and belong to the cursor', async () => {
  const all = [...(await read('?limit=100')), ...(await read('?limit=100&offset=100'))];
  for (const [outcome, success] of [
    ['succeeded', 1],
    ['failed', 0],
  ] as const) {
    const expected = all.filter((one) => one.success === success);
    expect((await read(`?outcome=${outcome}&event=room.created&limit=100`)).map(({ id }) => id)).toEqual(
      expected.slice(0, 100).map(({ id }) => id),
    );
  }
  expect(await read('?event=room.left')).toEqual([]);
  const page = (await app.http.get(`${path}?outcome=failed&limit=2`, team.admin.token)).body;
  const next = await read(`?outcome=failed&limit=2&cursor=${page.next_cursor}`);
  expect(next).toEqual(await read('?outcome=failed&limit=2&offset=2'));
  expect((await app.http.get(`${path}?limit=2&cursor=${page.next_cursor}`, team.admin.token)).status).toBe(400);
});

describe.each(transports)('through %s', (_, transport) => {
  test.each([
    [{ limit: 0 }, 'limit must be an integer between 1 and 100'],
    [{ limit: 101 }, 'limit must be an integer between 1 and 100'],
    [{ limit: 1.5 }, 'limit must be an integer between 1 and 100'],
    [{ limit: 'all' }, 'limit must be an integer between 1 and 100'],
    [{ offset: -1 }, 'offset must be an integer between 0 and 2147483647'],
    [{ offset: 2_147_483_648 }, 'offset must be an integer between 0 and 2147483647'],
  ])('%j is refused', async (part, message) => {
    const input = { id: team.id, webhookId, ...part };
    expect(await transport(app, { name: 'webhooks.deliveries', token: team.owner.token, input })).toMatchObject({
      status: 400,
      body: { message, issues: [{ path: Object.keys(part)[0], message }] },
    });
  });

  test('limit and offset can be combined', async () => {
    const input = { id: team.id, webhookId, limit: 2, offset: 3 };
    const { status, body } = await transport(app, { name: 'webhooks.deliveries', token: team.owner.token, input });
    const deliveries = await read('?limit=2&offset=3');
    expect([status, body]).toEqual([200, { deliveries, next_cursor: expect.any(String) }]);
  });
});

test('a webhook without deliveries has an empty list', async () => {
  const id = await addWebhook();
  const { status, body } = await app.http.get(`${team.path}/webhooks/${id}/deliveries`, team.owner.token);
  expect([status, body]).toEqual([200, { deliveries: [] }]);
});

test('are deleted with their webhook, and no others are', async () => {
  const id = await addWebhook();
  await addDeliveries(id, 5);
  expect((await app.http.delete(`${team.path}/webhooks/${id}`, team.owner.token)).status).toBe(200);
  expect(await app.services.db.webhookDelivery.count({ where: { webhookId: id } })).toBe(0);
  expect(await app.services.db.webhookMessage.count({ where: { webhookId: id } })).toBe(0);
  expect(await app.services.db.webhookDelivery.count({ where: { webhookId } })).toBe(COUNT);
  const gone = await app.http.get(`${team.path}/webhooks/${id}/deliveries`, team.owner.token);
  expect(gone).toMatchObject({ status: 404, body: { message: 'Webhook not found' } });
});
