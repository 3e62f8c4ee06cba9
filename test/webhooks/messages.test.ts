/** Listing and reading messages. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMessageId } from '../../src/webhook-delivery/message-id.ts';
import { type MessageWorld, START, startMessageWorld } from './fixtures/message-world.ts';

let world: MessageWorld;
beforeAll(async () => {
  world = await startMessageWorld();
});
afterAll(() => world.close());

describe('listing messages', () => {
  const list = async (path: string, query = ''): Promise<{ id: string; status: string }[]> => {
    const { status, body } = await world.app.http.get(`${path}/messages${query}`, world.team.admin.token);
    expect(status).toBe(200);
    return body.messages;
  };

  test('returns those of this webhook, newest first, by id within a millisecond', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    await world.addMessage((await world.addWebhook()).id);
    await world.addMessage((await world.addWebhook(world.other)).id, {}, world.other);
    const statuses = ['failed', 'waiting', 'delivered', 'cancelled'];
    const added: { id: string; status: string }[] = [];
    for (let index = 0; index < 12; index += 1) {
      const status = statuses[index % 4] ?? '';
      // Four at each time, not in the order in which they are added.
      const createdAt = new Date(START + (index % 3) * 1_000);
      added.push({ id: (await world.addMessage(webhookId, { status, createdAt, attempts: index % 2 })).id, status });
    }
    const byId = (one: { id: string }, another: { id: string }): number => (one.id < another.id ? 1 : -1);
    const all = await list(path);
    expect(all.map(({ id, status }) => ({ id, status }))).toEqual([...added].sort(byId));
    for (const status of statuses)
      expect(await list(path, `?status=${status}`)).toEqual(all.filter((message) => message.status === status));
    const { attempts: _, ...read } = (
      await world.app.http.get(`${path}/messages/${all[0]?.id}`, world.team.admin.token)
    ).body.message;
    expect(all[0]).toEqual(read);
    expect(await list(path, '?limit=5&offset=4')).toEqual(all.slice(4, 9));
    expect(await list(path, '?status=failed&limit=2&offset=1')).toEqual(
      all.filter(({ status }) => status === 'failed').slice(1, 3),
    );
    expect(await list(path, '?offset=12')).toEqual([]);
    expect(await list(path, `?event=${read.event}`)).toEqual(all);
    expect(await list(path, '?event=member.left&status=failed')).toEqual([]);
  });

  test('returns 50 by default, and none for a webhook without messages', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    expect(await list(path)).toEqual([]);
    const at = new Date(START);
    const message = {
      workspaceId: world.team.id,
      webhookId,
      event: 'room.created',
      payload: '{}',
      status: 'delivered',
    };
    await world.app.services.db.webhookMessage.createMany({
      data: Array.from({ length: 101 }, () => ({ ...message, id: createMessageId(at), createdAt: at, updatedAt: at })),
    });
    expect(await list(path)).toHaveLength(50);
    expect(await list(path, '?limit=100')).toHaveLength(100);
  });

  test('uses an index, however many messages there are', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const busy = await world.addWebhook();
    await world.client.query(
      `insert into webhook_messages (workspace_id, id, webhook_id, event, payload, status, created_at, updated_at)
       select $1, 'msg_' || md5(n::text), $2, 'room.created', '{}',
         case when n % 2 = 0 then 'delivered' else 'failed' end, now(), now()
       from generate_series(1, 20000) as n`,
      [world.team.id, busy.id],
    );
    for (const status of ['delivered', 'failed']) await world.addMessage(webhookId, { status });
    await world.client.query('analyze webhook_messages');
    // Generic plans, which the connections of the service use: they plan a statement once for all parameters.
    const statements: string[] = [];
    const spy = vi.spyOn(pg.Client.prototype, 'query');
    for (const query of ['', '?status=delivered', '?status=failed']) await list(path, query);
    for (const [first] of spy.mock.calls) {
      const text = typeof first === 'string' ? first : ((first as { text?: string } | undefined)?.text ?? '');
      if (text.includes('from webhook_messages')) statements.push(text);
    }
    spy.mockRestore();
    const plans: string[] = [];
    for (const statement of statements) {
      const { rows } = await world.client.query(`explain (generic_plan, costs off) ${statement}`);
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
    }
    const [all = '', delivered = '', failed = ''] = plans;
    expect(plans).toHaveLength(3);
    for (const plan of [all, delivered]) {
      expect(plan).toContain('using webhook_messages_workspace_id_webhook_id_id_idx');
      expect(plan).toMatch(/Index Cond: .*workspace_id = .*webhook_id = /);
      expect(plan).not.toMatch(/Sort/);
    }
    expect(failed).toContain('using webhook_messages_undelivered');
    expect(failed).toMatch(/Index Cond: .*workspace_id = .*webhook_id = .*status = /);
    // It sorts only messages of one millisecond.
    expect(failed).toContain('Presorted Key: created_at');
  });
});

describe('reading a message', () => {
  test('returns its fields, and its attempts oldest first, as the list of deliveries does', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const nextAttemptAt = new Date(START + 7_500);
    const { id } = await world.addMessage(webhookId, { status: 'waiting', attempts: 3, nextAttemptAt });
    await world.addMessage(webhookId, { attempts: 1 });
    const { status, body } = await world.app.http.get(`${path}/messages/${id}`, world.team.admin.token);
    expect(status).toBe(200);
    const { attempts, ...message } = body.message;
    expect(message).toEqual({
      id,
      webhook_id: webhookId,
      event: 'room.created',
      sequence: null,
      status: 'waiting',
      payload: '{"event":"room.created"}',
      attempt_count: 3,
      created_at: START / 1000,
      next_attempt_at: START / 1000 + 7,
    });
    expect(attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2, 3]);
    const listed = await world.app.http.get(`${path}/deliveries`, world.team.admin.token);
    const own = listed.body.deliveries.filter((delivery: { delivery_id: string }) => delivery.delivery_id === id);
    expect(attempts).toEqual(own.reverse());
    expect(attempts[0]).toMatchObject({ response_status: 503, response_body: 'no 1', success: 0, duration_ms: 1 });
  });

  test('returns no attempts before the first one, and at most the latest 100', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const none = await world.addMessage(webhookId, { status: 'cancelled', attempts: 0 });
    const read = async (id: string) =>
      (await world.app.http.get(`${path}/messages/${id}`, world.team.admin.token)).body.message;
    expect(await read(none.id)).toMatchObject({ attempts: [], attempt_count: 0, next_attempt_at: null });
    const many = await world.addMessage(webhookId, { attempts: 105 });
    const { attempts, attempt_count } = await read(many.id);
    expect(attempt_count).toBe(105);
    expect(attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 6),
    );
  });

  test('returns the same 404 for another webhook, another workspace and a malformed id', async () => {
    const webhook = await world.addWebhook();
    const { id: sibling } = await world.addMessage((await world.addWebhook()).id);
    const { id: foreign } = await world.addMessage((await world.addWebhook(world.other)).id, {}, world.other);
    for (const id of [sibling, foreign, `msg_${'0'.repeat(32)}`, 'x', '%00', '%F0%9F%90%88', '1'])
      expect(await world.app.http.get(`${webhook.path}/messages/${id}`, world.team.owner.token), id).toMatchObject({
        status: 404,
        body: { message: 'Message not found' },
      });
  });
});

test('the query of the operating guide counts pending messages', async () => {
  const guide = await readFile(new URL('../../docs/background-work.md', import.meta.url), 'utf8');
  const [, query = ''] = /```sql\n(select[^`]+)```/.exec(guide) ?? [];
  const before = (await world.client.query(query)).rows[0];
  const { id: webhookId } = await world.addWebhook();
  const nextAttemptAt = new Date('2020-01-01T00:00:00Z');
  await world.addMessage(webhookId, { status: 'waiting', nextAttemptAt });
  await world.addMessage(webhookId, { status: 'waiting', nextAttemptAt: new Date('2100-01-01T00:00:00Z') });
  await world.addMessage(webhookId, { status: 'failed' });
  const { rows } = await world.client.query(query);
  expect(rows).toEqual([
    {
      unrelayed_events: expect.any(String),
      waiting: String(Number(before.waiting) + 2),
      due: String(Number(before.due) + 1),
      due_since: nextAttemptAt,
    },
  ]);
});
