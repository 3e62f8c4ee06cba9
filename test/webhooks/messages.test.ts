/** Messages: tests, reading them, sending them again, and what becomes of them when their webhook is switched off. */
import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createMessageId, isMessageId } from '../../src/webhook-delivery/message-id.ts';
import { type Input, transports } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const INACTIVE = 'The webhook is inactive: activate it first';
const START = Date.parse('2026-03-01T00:00:00Z');

let app: TestApp;
let team: Team;
let other: Team;
let listener: pg.Client;
let notified = 0;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00.250Z') });
  [team, other] = await Promise.all([addTeam(app), addTeam(app, 'Other')]);
  listener = new pg.Client({ connectionString: app.databaseUrl });
  await listener.connect();
  listener.on('notification', ({ channel }) => {
    if (channel === 'lynxroom_relay') notified += 1;
  });
  await listener.query('listen lynxroom_relay');
});
afterAll(async () => {
  await listener.end();
  await app.close();
});

/** How often the relay was told while `work` ran. */
async function notificationsOf(work: () => Promise<unknown>): Promise<number> {
  await listener.query('select 1');
  const before = notified;
  await work();
  // What was sent before this answer has arrived with it.
  await listener.query('select 1');
  return notified - before;
}

async function newHook(of = team): Promise<{ id: number; path: string }> {
  const input = { name: 'Chat', url: 'https://example.com/', events: ['room.created'] };
  const { body } = await app.http.post(`${of.path}/webhooks`, of.owner.token, input);
  return { id: body.webhook.id, path: `${of.path}/webhooks/${body.webhook.id}` };
}

function toggle(path: string) {
  return app.http.patch(path, team.admin.token, { toggle: true });
}

const JOB = '00000000-0000-4000-8000-000000000001';

type State = { status?: string; attempts?: number; jobId?: string | null; createdAt?: Date; nextAttemptAt?: Date };

/** A message, with a row for each of its attempts. */
async function addMessage(webhookId: number, { status = 'failed', attempts = 1, ...more }: State = {}, of = team) {
  const { db } = app.services;
  const at = more.createdAt ?? new Date(START);
  const id = createMessageId(at);
  const data = { workspaceId: of.id, id, webhookId, event: 'room.created', payload: '{"event":"room.created"}' };
  const nextAttemptAt = more.nextAttemptAt ?? (status === 'waiting' ? new Date(START + 3_600_000) : null);
  const counts = { attempts, roundAttempts: attempts };
  await db.webhookMessage.create({
    data: { ...data, ...counts, status, jobId: more.jobId ?? null, nextAttemptAt, createdAt: at, updatedAt: at },
  });
  const deliveryIds: number[] = [];
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const answer = { responseStatus: 503, responseBody: `no ${attempt}`, success: false, durationMs: attempt };
    const row = await db.webhookDelivery.create({
      data: { workspaceId: of.id, webhookId, messageId: id, attempt, ...answer, createdAt: new Date(START + attempt) },
    });
    deliveryIds.push(Number(row.id));
  }
  return { id, deliveryId: deliveryIds[0] ?? 0, deliveryIds };
}

function messageOf(id: string) {
  return app.services.db.webhookMessage.findFirstOrThrow({ where: { id } });
}
function messagesOf(webhookId: number) {
  return app.services.db.webhookMessage.findMany({ where: { webhookId }, orderBy: { createdAt: 'asc' } });
}

/** What a message is like from which a new round begins now. */
function fresh() {
  const now = app.clock.now();
  return { status: 'waiting', jobId: null, roundAttempts: 0, nextAttemptAt: now, updatedAt: now };
}

describe('ids of messages', () => {
  test('are a UUID of version 7 with the time in front, and sort by it', () => {
    const at = new Date('2026-06-15T12:00:00.123Z');
    const ids = Array.from({ length: 1_000 }, () => createMessageId(at));
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) {
      expect(id).toMatch(/^msg_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
      expect(Number.parseInt(id.slice(4, 16), 16)).toBe(at.getTime());
      expect(isMessageId(id)).toBe(true);
    }
    const later = createMessageId(new Date(at.getTime() + 1));
    for (const id of ids) expect(id < later).toBe(true);
  });

  test.each(['', 'msg_', `msg_${'g'.repeat(32)}`, `msg_${'0'.repeat(33)}`, `MSG_${'0'.repeat(32)}`, '\u0000'])(
    '%j is none',
    (text) => expect(isMessageId(text)).toBe(false),
  );
});

describe('a test', () => {
  test('is a message for this webhook alone, whatever it subscribes to, and the relay is told once', async () => {
    const hook = await newHook();
    const bystander = await newHook();
    const answers: { status: number; body: { message: Record<string, unknown> } }[] = [];
    const told = await notificationsOf(async () => {
      answers.push(await app.http.post(`${hook.path}/test`, team.admin.token));
    });
    expect(told).toBe(1);
    const [answer] = answers;
    expect(answer?.status).toBe(200);
    const message = answer?.body.message ?? {};
    const now = app.clock.now();
    const seconds = Math.floor(now.getTime() / 1000);
    expect(message).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      webhook_id: hook.id,
      event: 'webhook.test',
      status: 'waiting',
      payload: JSON.stringify({
        event: 'webhook.test',
        timestamp: now.toISOString(),
        data: { workspace_id: team.id, webhook_id: hook.id, webhook_name: 'Chat', sent_by: 'Adam Admin' },
      }),
      attempt_count: 0,
      created_at: seconds,
      next_attempt_at: seconds,
    });
    const [row, ...more] = await messagesOf(hook.id);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ id: message.id, workspaceId: team.id, eventId: null, attempts: 0, ...fresh() });
    expect(await messagesOf(bystander.id)).toEqual([]);
  });

  test('comes as often as it is asked for', async () => {
    const { id, path } = await newHook();
    const answers = await concurrently(10, () => app.http.post(`${path}/test`, team.owner.token));
    expect(countStatuses(answers)).toEqual({ 200: 10 });
    expect(await messagesOf(id)).toHaveLength(10);
  });
});

describe('sending again', () => {
  test.each([
    ['failed', 1],
    ['cancelled', 0],
    ['delivered', 2],
    ['waiting', 1],
  ])('by its own id begins a new round too, for one that is %s after %i attempts', async (status, attempts) => {
    const { id: webhookId, path } = await newHook();
    const { id } = await addMessage(webhookId, { status, attempts, jobId: status === 'waiting' ? JOB : null });
    const before = await messageOf(id);
    const told = await notificationsOf(async () => {
      const answer = await app.http.post(`${path}/messages/${id}/resend`, team.admin.token);
      expect(answer).toMatchObject({
        status: 200,
        body: { message: { id, status: 'waiting', attempt_count: attempts } },
      });
    });
    expect(told).toBe(1);
    expect(await messageOf(id)).toEqual({ ...before, ...fresh() });
    expect(await messagesOf(webhookId)).toHaveLength(1);
  });

  test('goes by the messages of this webhook only, and says so of what is no id of one', async () => {
    const hook = await newHook();
    const neighbour = await addMessage((await newHook()).id);
    const foreign = await addMessage((await newHook(other)).id, {}, other);
    const { token } = team.owner;
    for (const { id } of [neighbour, foreign]) {
      const before = await messageOf(id);
      const answer = await app.http.post(`${hook.path}/messages/${id}/resend`, token);
      expect(answer).toMatchObject({ status: 404, body: { message: 'Message not found' } });
      expect(await messageOf(id)).toEqual(before);
    }
    for (const id of [`msg_${'0'.repeat(32)}`, 'x', '%00', '1'])
      expect((await app.http.post(`${hook.path}/messages/${id}/resend`, token)).status).toBe(404);
  });

  test('by the id of a message in the place of a delivery says what is meant', async () => {
    const { id: webhookId, path } = await newHook();
    const { id } = await addMessage(webhookId);
    expect(await app.http.post(`${path}/deliveries/${id}/resend`, team.owner.token)).toMatchObject({
      status: 400,
      body: { message: 'deliveryId must be the id of a delivery, an integer between 1 and 9007199254740991' },
    });
  });

  test.each([
    ['failed', null],
    ['cancelled', null],
    ['delivered', null],
    ['waiting', null],
    ['waiting', JOB],
  ])('begins a new round for a message that is %s, with the job %j', async (status, jobId) => {
    const { id: webhookId, path } = await newHook();
    const { id, deliveryIds } = await addMessage(webhookId, { status, jobId, attempts: 3 });
    const before = await messageOf(id);
    for (const deliveryId of deliveryIds) {
      const told = await notificationsOf(async () => {
        const answer = await app.http.post(`${path}/deliveries/${deliveryId}/resend`, team.admin.token);
        expect(answer).toMatchObject({ status: 200, body: { message: { id, status: 'waiting', attempt_count: 3 } } });
      });
      expect(told).toBe(1);
      expect(await messageOf(id)).toEqual({ ...before, ...fresh() });
    }
    expect(await app.services.db.webhookDelivery.count({ where: { messageId: id } })).toBe(3);
    expect(await messagesOf(webhookId)).toHaveLength(1);
  });

  test('ten times at once gives one round of one message', async () => {
    const { id: webhookId, path } = await newHook();
    const { id, deliveryId } = await addMessage(webhookId, { attempts: 10 });
    const answers = await concurrently(10, () =>
      app.http.post(`${path}/deliveries/${deliveryId}/resend`, team.owner.token),
    );
    expect(countStatuses(answers)).toEqual({ 200: 10 });
    expect(await messagesOf(webhookId)).toEqual([expect.objectContaining({ id, attempts: 10, ...fresh() })]);
  });

  test('goes by the attempts of this webhook only', async () => {
    const hook = await newHook();
    const neighbour = await addMessage((await newHook()).id);
    const foreign = await addMessage((await newHook(other)).id, {}, other);
    for (const { id, deliveryId } of [neighbour, foreign]) {
      const before = await messageOf(id);
      const answer = await app.http.post(`${hook.path}/deliveries/${deliveryId}/resend`, team.owner.token);
      expect(answer).toMatchObject({ status: 404, body: { message: 'Delivery not found' } });
      expect(await messageOf(id)).toEqual(before);
    }
  });

  test('what failed or was cancelled since then, and nothing else', async () => {
    const { id: webhookId, path } = await newHook();
    const since = START / 1000;
    const at = (seconds: number): Date => new Date(START + seconds * 1000);
    const taken = [
      await addMessage(webhookId, { status: 'failed', createdAt: at(0), attempts: 2 }),
      await addMessage(webhookId, { status: 'cancelled', createdAt: at(5), attempts: 0 }),
    ];
    const left = [
      await addMessage(webhookId, { status: 'failed', createdAt: new Date(START - 1) }),
      await addMessage(webhookId, { status: 'delivered', createdAt: at(1) }),
      await addMessage(webhookId, { status: 'waiting', jobId: JOB, createdAt: at(2) }),
      await addMessage((await newHook()).id, { createdAt: at(3) }),
      await addMessage((await newHook(other)).id, { createdAt: at(4) }, other),
    ];
    const before = await Promise.all(left.map(({ id }) => messageOf(id)));
    const told = await notificationsOf(async () => {
      const answer = await app.http.post(`${path}/resend`, team.admin.token, { since });
      expect([answer.status, answer.body]).toEqual([200, { count: 2 }]);
    });
    expect(told).toBe(1);
    for (const { id } of taken) expect(await messageOf(id)).toMatchObject(fresh());
    expect(await Promise.all(left.map(({ id }) => messageOf(id)))).toEqual(before);
    const again = await app.http.post(`${path}/resend`, team.admin.token, { since });
    expect([again.status, again.body]).toEqual([200, { count: 0 }]);
  });

  test.each([1, 3])('takes many, in chunks, each once, also those of one instant: %i at once', async (callers) => {
    const { id: webhookId, path } = await newHook();
    const at = new Date(START);
    const message = { workspaceId: team.id, webhookId, event: 'room.created', payload: '{}', status: 'cancelled' };
    await app.services.db.webhookMessage.createMany({
      data: Array.from({ length: 2_500 }, () => ({
        ...message,
        id: createMessageId(at),
        createdAt: at,
        updatedAt: at,
      })),
    });
    const told = await notificationsOf(async () => {
      const answers = await concurrently(callers, () =>
        app.http.post(`${path}/resend`, team.owner.token, { since: 0 }),
      );
      expect(countStatuses(answers)).toEqual({ 200: callers });
      expect(answers.reduce((sum, { body }) => sum + body.count, 0)).toBe(2_500);
    });
    expect(told).toBe(3);
    const where = { webhookId, ...fresh() };
    expect(await app.services.db.webhookMessage.count({ where })).toBe(2_500);
  });
});

describe('switching a webhook off', () => {
  test.each([
    ['toggle', false],
    ['is_active', true],
  ])('by %s cancels what waits and nothing else; switching it on brings nothing back', async (_, isSet) => {
    const { id: webhookId, path } = await newHook();
    const waiting = [
      await addMessage(webhookId, { status: 'waiting' }),
      await addMessage(webhookId, { status: 'waiting', jobId: JOB }),
    ];
    const left = [
      await addMessage(webhookId, { status: 'failed' }),
      await addMessage(webhookId, { status: 'delivered' }),
      await addMessage((await newHook()).id, { status: 'waiting', jobId: JOB }),
    ];
    const before = await Promise.all(left.map(({ id }) => messageOf(id)));
    const cancelled = { status: 'cancelled', jobId: null, nextAttemptAt: null, updatedAt: app.clock.now() };
    const set = () => app.http.patch(path, team.admin.token, { is_active: 0 });
    for (const [change, is_active] of [
      [isSet ? set : () => toggle(path), 0],
      [() => toggle(path), 1],
    ] as const) {
      expect((await change()).body.webhook).toMatchObject({ is_active });
      for (const { id } of waiting) expect(await messageOf(id)).toMatchObject(cancelled);
      expect(await Promise.all(left.map(({ id }) => messageOf(id)))).toEqual(before);
    }
  });

  test('another change leaves what waits alone', async () => {
    const { id: webhookId, path } = await newHook();
    const { id } = await addMessage(webhookId, { status: 'waiting', jobId: JOB });
    const before = await messageOf(id);
    const change = { name: 'New', url: 'https://example.org/', events: ['room.left'], toggle: false };
    expect((await app.http.patch(path, team.admin.token, change)).status).toBe(200);
    expect((await app.http.post(`${path}/rotate-secret`, team.admin.token)).status).toBe(200);
    expect(await messageOf(id)).toEqual(before);
  });

  test('leaves nothing that could be sent: tests and sending again are 409', async () => {
    const { id: webhookId, path } = await newHook();
    const { id, deliveryId } = await addMessage(webhookId);
    const before = await messageOf(id);
    await toggle(path);
    const { token } = team.owner;
    for (const answer of [
      await app.http.post(`${path}/messages/${id}/resend`, token),
      await app.http.post(`${path}/test`, token),
      await app.http.post(`${path}/deliveries/${deliveryId}/resend`, token),
      await app.http.post(`${path}/resend`, token, { since: 0 }),
    ])
      expect(answer).toMatchObject({ status: 409, body: { message: INACTIVE, code: 'CONFLICT' } });
    expect(await messagesOf(webhookId)).toEqual([before]);
  });

  test('at the same time as tests and sending again, leaves nothing waiting', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: webhookId, path } = await newHook();
      const { deliveryId } = await addMessage(webhookId);
      const { token } = team.owner;
      const [off, ...rest] = await Promise.all([
        toggle(path),
        app.http.post(`${path}/deliveries/${deliveryId}/resend`, token),
        app.http.post(`${path}/test`, token),
        app.http.post(`${path}/resend`, token, { since: 0 }),
      ]);
      expect(off.status).toBe(200);
      for (const { status } of rest) expect([200, 409]).toContain(status);
      for (const { status } of await messagesOf(webhookId)) expect(status).not.toBe('waiting');
    }
  });
});

describe('deleting a webhook', () => {
  test('takes its messages and attempts with it, also those that wait', async () => {
    const { id: webhookId, path } = await newHook();
    await addMessage(webhookId, { status: 'waiting', jobId: JOB });
    await addMessage(webhookId);
    expect((await app.http.delete(path, team.owner.token)).status).toBe(200);
    expect(await messagesOf(webhookId)).toEqual([]);
    expect(await app.services.db.webhookDelivery.count({ where: { webhookId } })).toBe(0);
  });

  test('while it is tested and sent again, breaks nothing', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id: webhookId, path } = await newHook();
      const { deliveryId } = await addMessage(webhookId);
      const { token } = team.owner;
      const [gone, ...rest] = await Promise.all([
        app.http.delete(path, token),
        app.http.post(`${path}/deliveries/${deliveryId}/resend`, token),
        app.http.post(`${path}/test`, token),
        app.http.post(`${path}/rotate-secret`, token),
        toggle(path),
      ]);
      expect(gone.status).toBe(200);
      for (const { status } of rest) expect([200, 404, 409]).toContain(status);
      expect(await messagesOf(webhookId)).toEqual([]);
    }
  });
});

describe('listing messages', () => {
  const list = async (path: string, query = ''): Promise<{ id: string; status: string }[]> => {
    const { status, body } = await app.http.get(`${path}/messages${query}`, team.admin.token);
    expect(status).toBe(200);
    return body.messages;
  };

  test('has those of this webhook, newest first, those of one instant by id, with the fields of one that is read', async () => {
    const { id: webhookId, path } = await newHook();
    await addMessage((await newHook()).id);
    await addMessage((await newHook(other)).id, {}, other);
    const statuses = ['failed', 'waiting', 'delivered', 'cancelled'];
    const made: { id: string; status: string }[] = [];
    for (let index = 0; index < 12; index += 1) {
      const status = statuses[index % 4] ?? '';
      // Four in each instant, not in the order in which they were added.
      const createdAt = new Date(START + (index % 3) * 1_000);
      made.push({ id: (await addMessage(webhookId, { status, createdAt, attempts: index % 2 })).id, status });
    }
    const byId = (one: { id: string }, another: { id: string }): number => (one.id < another.id ? 1 : -1);
    const all = await list(path);
    expect(all.map(({ id, status }) => ({ id, status }))).toEqual([...made].sort(byId));
    for (const status of statuses)
      expect(await list(path, `?status=${status}`)).toEqual(all.filter((message) => message.status === status));
    const { attempts: _, ...read } = (await app.http.get(`${path}/messages/${all[0]?.id}`, team.admin.token)).body
      .message;
    expect(all[0]).toEqual(read);
    expect(await list(path, '?limit=5&offset=4')).toEqual(all.slice(4, 9));
    expect(await list(path, '?status=failed&limit=2&offset=1')).toEqual(
      all.filter(({ status }) => status === 'failed').slice(1, 3),
    );
    expect(await list(path, '?offset=12')).toEqual([]);
  });

  test('has 50 unless told otherwise, and none of a webhook without any', async () => {
    const { id: webhookId, path } = await newHook();
    expect(await list(path)).toEqual([]);
    const at = new Date(START);
    const message = { workspaceId: team.id, webhookId, event: 'room.created', payload: '{}', status: 'delivered' };
    await app.services.db.webhookMessage.createMany({
      data: Array.from({ length: 101 }, () => ({ ...message, id: createMessageId(at), createdAt: at, updatedAt: at })),
    });
    expect(await list(path)).toHaveLength(50);
    expect(await list(path, '?limit=100')).toHaveLength(100);
  });

  test('finds them by an index, however many others were sent', async () => {
    const { id: webhookId, path } = await newHook();
    const busy = await newHook();
    await listener.query(
      `insert into webhook_messages (workspace_id, id, webhook_id, event, payload, status, created_at, updated_at)
       select $1, 'msg_' || md5(n::text), $2, 'room.created', '{}',
         case when n % 2 = 0 then 'delivered' else 'failed' end, now(), now()
       from generate_series(1, 20000) as n`,
      [team.id, busy.id],
    );
    for (const status of ['delivered', 'failed']) await addMessage(webhookId, { status });
    await listener.query('analyze webhook_messages');
    // As the service's connections do: they plan a statement once, for whatever it is asked with.
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
      const { rows } = await listener.query(`explain (generic_plan, costs off) ${statement}`);
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
    // Of one instant only.
    expect(failed).toContain('Presorted Key: created_at');
  });
});

test('the query of the operating guide counts what waits', async () => {
  const guide = await readFile(new URL('../../docs/operating.md', import.meta.url), 'utf8');
  const [, query = ''] = /```sql\n(.*?)```/s.exec(guide) ?? [];
  const before = (await listener.query(query)).rows[0];
  const { id: webhookId } = await newHook();
  const nextAttemptAt = new Date('2020-01-01T00:00:00Z');
  await addMessage(webhookId, { status: 'waiting', nextAttemptAt });
  await addMessage(webhookId, { status: 'waiting', nextAttemptAt: new Date('2100-01-01T00:00:00Z') });
  await addMessage(webhookId, { status: 'failed' });
  const { rows } = await listener.query(query);
  expect(rows).toEqual([
    {
      unrelayed_events: expect.any(String),
      waiting: String(Number(before.waiting) + 2),
      due: String(Number(before.due) + 1),
      due_since: nextAttemptAt,
    },
  ]);
});

describe('reading a message', () => {
  test('has its fields, and its attempts oldest first, as the list of deliveries has them', async () => {
    const { id: webhookId, path } = await newHook();
    const nextAttemptAt = new Date(START + 7_500);
    const { id } = await addMessage(webhookId, { status: 'waiting', attempts: 3, nextAttemptAt });
    await addMessage(webhookId, { attempts: 1 });
    const { status, body } = await app.http.get(`${path}/messages/${id}`, team.admin.token);
    expect(status).toBe(200);
    const { attempts, ...message } = body.message;
    expect(message).toEqual({
      id,
      webhook_id: webhookId,
      event: 'room.created',
      status: 'waiting',
      payload: '{"event":"room.created"}',
      attempt_count: 3,
      created_at: START / 1000,
      next_attempt_at: START / 1000 + 7,
    });
    expect(attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual([1, 2, 3]);
    const listed = await app.http.get(`${path}/deliveries`, team.admin.token);
    const own = listed.body.deliveries.filter((delivery: { delivery_id: string }) => delivery.delivery_id === id);
    expect(attempts).toEqual(own.reverse());
    expect(attempts[0]).toMatchObject({ response_status: 503, response_body: 'no 1', success: 0, duration_ms: 1 });
  });

  test('has none before the first attempt, and the latest 100 of many', async () => {
    const { id: webhookId, path } = await newHook();
    const none = await addMessage(webhookId, { status: 'cancelled', attempts: 0 });
    const read = async (id: string) => (await app.http.get(`${path}/messages/${id}`, team.admin.token)).body.message;
    expect(await read(none.id)).toMatchObject({ attempts: [], attempt_count: 0, next_attempt_at: null });
    const many = await addMessage(webhookId, { attempts: 105 });
    const { attempts, attempt_count } = await read(many.id);
    expect(attempt_count).toBe(105);
    expect(attempts.map(({ attempt }: { attempt: number }) => attempt)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 6),
    );
  });

  test('of another webhook or workspace, and of a malformed id, is 404 all the same', async () => {
    const hook = await newHook();
    const { id: neighbour } = await addMessage((await newHook()).id);
    const { id: foreign } = await addMessage((await newHook(other)).id, {}, other);
    for (const id of [neighbour, foreign, `msg_${'0'.repeat(32)}`, 'x', '%00', '%F0%9F%90%88', '1'])
      expect(await app.http.get(`${hook.path}/messages/${id}`, team.owner.token), id).toMatchObject({
        status: 404,
        body: { message: 'Message not found' },
      });
  });
});

describe.each(transports)('through %s', (_, transport) => {
  test('who was removed or demoted while they waited for the lock changes nothing', async () => {
    const { id: webhookId } = await newHook(other);
    const { deliveryId, id: messageId } = await addMessage(webhookId, {}, other);
    const name = 'New';
    const more: Record<string, Input> = {
      create: { name, url: 'https://example.com/', events: ['room.created'] },
      update: { webhookId, name, toggle: true },
      rotateSecret: { webhookId },
      test: { webhookId },
      resend: { webhookId, deliveryId },
      resendFailed: { webhookId, since: 0 },
      resendMessage: { webhookId, messageId },
    };
    const rowsNow = async () => [
      await app.services.db.webhook.findMany({ where: { workspaceId: other.id } }),
      await messagesOf(webhookId),
    ];
    const before = await rowsNow();
    const blocker = new pg.Client({ connectionString: app.databaseUrl });
    await blocker.connect();
    const demote = (role: string) =>
      blocker.query('update members set role = $1 where workspace_id = $2 and user_id = $3', [
        role,
        other.id,
        other.admin.id,
      ]);
    const waiting = async (): Promise<number> => {
      const { rows } = await listener.query(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].count;
    };
    try {
      await blocker.query('begin');
      await blocker.query('select 1 from workspaces where id = $1 for update', [other.id]);
      const calls = Object.entries(more).map(([operation, input]) =>
        transport(app, { name: `webhooks.${operation}`, token: other.admin.token, input: { id: other.id, ...input } }),
      );
      await expect.poll(waiting, { timeout: 10_000 }).toBe(calls.length);
      await demote('member');
      await blocker.query('commit');
      for (const outcome of await Promise.all(calls))
        expect(outcome).toMatchObject({ status: 403, body: { message: 'Forbidden' } });
      expect(await rowsNow()).toEqual(before);
    } finally {
      await demote('admin');
      await blocker.end();
    }
  });
});
