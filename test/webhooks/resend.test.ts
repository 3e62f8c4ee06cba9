/** Test messages, and messages that are resent. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createMessageId } from '../../src/webhook-delivery/message-id.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { JOB_ID, type MessageWorld, START, startMessageWorld } from './fixtures/message-world.ts';

let world: MessageWorld;
beforeAll(async () => {
  world = await startMessageWorld({ hasOwnEvents: true });
});
afterAll(() => world.close());

describe('a test message', () => {
  test('is for this webhook only, whatever events it subscribes to, and notifies the relay once', async () => {
    const webhook = await world.addWebhook();
    const otherWebhook = await world.addWebhook();
    const responses: { status: number; body: { message: Record<string, unknown> } }[] = [];
    const notifications = await world.countNotifications(async () => {
      responses.push(await world.app.http.post(`${webhook.path}/test`, world.team.admin.token));
    });
    expect(notifications).toBe(1);
    const [response] = responses;
    expect(response?.status).toBe(200);
    const message = response?.body.message ?? {};
    const now = world.app.clock.now();
    const seconds = Math.floor(now.getTime() / 1000);
    expect(message).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{32}$/),
      webhook_id: webhook.id,
      event: 'webhook.test',
      sequence: null,
      status: 'waiting',
      payload: JSON.stringify({
        event: 'webhook.test',
        timestamp: now.toISOString(),
        data: { workspace_id: world.team.id, webhook_id: webhook.id, webhook_name: 'Chat', sent_by: 'Adam Admin' },
      }),
      attempt_count: 0,
      created_at: seconds,
      next_attempt_at: seconds,
    });
    const [row, ...more] = await world.findMessages(webhook.id);
    expect(more).toEqual([]);
    expect(row).toMatchObject({
      id: message.id,
      workspaceId: world.team.id,
      eventId: null,
      attempts: 0,
      ...world.newRound(),
    });
    expect(await world.findMessages(otherWebhook.id)).toEqual([]);
  });

  test('is sent as often as it is requested', async () => {
    const { id, path } = await world.addWebhook();
    const responses = await concurrently(10, () => world.app.http.post(`${path}/test`, world.team.owner.token));
    expect(countStatuses(responses)).toEqual({ 200: 10 });
    expect(await world.findMessages(id)).toHaveLength(10);
  });
});

describe('resending', () => {
  test.each([
    ['failed', 1],
    ['cancelled', 0],
    ['delivered', 2],
    ['waiting', 1],
  ])('a message by its id starts a new round if it is %s after %i attempts', async (status, attempts) => {
    const { id: webhookId, path } = await world.addWebhook();
    const { id } = await world.addMessage(webhookId, { status, attempts, jobId: status === 'waiting' ? JOB_ID : null });
    const before = await world.findMessage(id);
    const notifications = await world.countNotifications(async () => {
      const response = await world.app.http.post(`${path}/messages/${id}/resend`, world.team.admin.token);
      expect(response).toMatchObject({
        status: 200,
        body: { message: { id, status: 'waiting', attempt_count: attempts } },
      });
    });
    expect(notifications).toBe(1);
    expect(await world.findMessage(id)).toEqual({ ...before, ...world.newRound() });
    expect(await world.findMessages(webhookId)).toHaveLength(1);
  });

  test('finds only messages of this webhook, and returns 404 for other ids', async () => {
    const webhook = await world.addWebhook();
    const sibling = await world.addMessage((await world.addWebhook()).id);
    const foreign = await world.addMessage((await world.addWebhook(world.other)).id, {}, world.other);
    const { token } = world.team.owner;
    for (const { id } of [sibling, foreign]) {
      const before = await world.findMessage(id);
      const response = await world.app.http.post(`${webhook.path}/messages/${id}/resend`, token);
      expect(response).toMatchObject({ status: 404, body: { message: 'Message not found' } });
      expect(await world.findMessage(id)).toEqual(before);
    }
    for (const id of [`msg_${'0'.repeat(32)}`, 'x', '%00', '1'])
      expect((await world.app.http.post(`${webhook.path}/messages/${id}/resend`, token)).status).toBe(404);
  });

  test('with a message id in place of a delivery id explains what is expected', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const { id } = await world.addMessage(webhookId);
    expect(await world.app.http.post(`${path}/deliveries/${id}/resend`, world.team.owner.token)).toMatchObject({
      status: 400,
      body: { message: 'deliveryId must be the id of a delivery, an integer' },
    });
  });

  test.each([
    ['failed', null],
    ['cancelled', null],
    ['delivered', null],
    ['waiting', null],
    ['waiting', JOB_ID],
  ])('a delivery starts a new round if its message is %s, with the job %j', async (status, jobId) => {
    const { id: webhookId, path } = await world.addWebhook();
    const { id, deliveryIds } = await world.addMessage(webhookId, { status, jobId, attempts: 3 });
    const before = await world.findMessage(id);
    for (const deliveryId of deliveryIds) {
      const notifications = await world.countNotifications(async () => {
        const response = await world.app.http.post(`${path}/deliveries/${deliveryId}/resend`, world.team.admin.token);
        expect(response).toMatchObject({ status: 200, body: { message: { id, status: 'waiting', attempt_count: 3 } } });
      });
      expect(notifications).toBe(1);
      expect(await world.findMessage(id)).toEqual({ ...before, ...world.newRound() });
    }
    expect(await world.app.services.db.webhookDelivery.count({ where: { messageId: id } })).toBe(3);
    expect(await world.findMessages(webhookId)).toHaveLength(1);
  });

  test('ten times at once starts one round of one message', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const { id, deliveryId } = await world.addMessage(webhookId, { attempts: 10 });
    const responses = await concurrently(10, () =>
      world.app.http.post(`${path}/deliveries/${deliveryId}/resend`, world.team.owner.token),
    );
    expect(countStatuses(responses)).toEqual({ 200: 10 });
    expect(await world.findMessages(webhookId)).toEqual([
      expect.objectContaining({ id, attempts: 10, ...world.newRound() }),
    ]);
  });

  test('finds only deliveries of this webhook', async () => {
    const webhook = await world.addWebhook();
    const sibling = await world.addMessage((await world.addWebhook()).id);
    const foreign = await world.addMessage((await world.addWebhook(world.other)).id, {}, world.other);
    for (const { id, deliveryId } of [sibling, foreign]) {
      const before = await world.findMessage(id);
      const response = await world.app.http.post(
        `${webhook.path}/deliveries/${deliveryId}/resend`,
        world.team.owner.token,
      );
      expect(response).toMatchObject({ status: 404, body: { message: 'Delivery not found' } });
      expect(await world.findMessage(id)).toEqual(before);
    }
  });

  test('failed messages includes what failed or was cancelled since then, and nothing else', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const since = START / 1000;
    const at = (seconds: number): Date => new Date(START + seconds * 1000);
    const resent = [
      await world.addMessage(webhookId, { status: 'failed', createdAt: at(0), attempts: 2 }),
      await world.addMessage(webhookId, { status: 'cancelled', createdAt: at(5), attempts: 0 }),
    ];
    const left = [
      await world.addMessage(webhookId, { status: 'failed', createdAt: new Date(START - 1) }),
      await world.addMessage(webhookId, { status: 'delivered', createdAt: at(1) }),
      await world.addMessage(webhookId, { status: 'waiting', jobId: JOB_ID, createdAt: at(2) }),
      await world.addMessage((await world.addWebhook()).id, { createdAt: at(3) }),
      await world.addMessage((await world.addWebhook(world.other)).id, { createdAt: at(4) }, world.other),
    ];
    const before = await Promise.all(left.map(({ id }) => world.findMessage(id)));
    const notifications = await world.countNotifications(async () => {
      const response = await world.app.http.post(`${path}/resend`, world.team.admin.token, { since });
      expect([response.status, response.body]).toEqual([200, { count: 2, has_more: 0 }]);
    });
    expect(notifications).toBe(1);
    for (const { id } of resent) expect(await world.findMessage(id)).toMatchObject(world.newRound());
    expect(await Promise.all(left.map(({ id }) => world.findMessage(id)))).toEqual(before);
    const again = await world.app.http.post(`${path}/resend`, world.team.admin.token, { since });
    expect([again.status, again.body]).toEqual([200, { count: 0, has_more: 0 }]);
  });

  test.each([1, 3])(
    'failed messages resends each once, in batches, also those of one millisecond: %i calls at once',
    async (callers) => {
      const { id: webhookId, path } = await world.addWebhook();
      const at = new Date(START);
      const message = {
        workspaceId: world.team.id,
        webhookId,
        event: 'room.created',
        payload: '{}',
        status: 'cancelled',
      };
      await world.app.services.db.webhookMessage.createMany({
        data: Array.from({ length: 700 }, () => ({
          ...message,
          id: createMessageId(at),
          createdAt: at,
          updatedAt: at,
        })),
      });
      const notifications = await world.countNotifications(async () => {
        const responses = await concurrently(callers, () =>
          world.app.http.post(`${path}/resend`, world.team.owner.token, { since: 0 }),
        );
        expect(countStatuses(responses)).toEqual({ 200: callers });
        expect(responses.reduce((sum, { body }) => sum + body.count, 0)).toBe(700);
      });
      expect(notifications).toBe(3);
      const where = { webhookId, ...world.newRound() };
      expect(await world.app.services.db.webhookMessage.count({ where })).toBe(700);
    },
  );
});

describe('sending missed events', () => {
  const now = () => world.app.clock.now().getTime();
  let sequence = 1_000_000;

  /** Adds relayed events to the log, oldest first. Returns their ids. */
  async function addEvents(events: { type?: string; daysAgo?: number; data?: object }[], of = world.team) {
    const rows = await world.app.services.db.event.createManyAndReturn({
      data: events.map(({ type = 'room.created', daysAgo = 1, data }) => {
        sequence += 1;
        const createdAt = new Date(now() - daysAgo * 86_400_000);
        const told = data ?? { workspace_id: of.id, room_id: sequence };
        return { workspaceId: of.id, type, data: told, createdAt, relayedAt: createdAt, sequence };
      }),
      select: { id: true },
    });
    return rows.map(({ id }) => id);
  }

  async function resend(path: string, daysAgo = 10_000, until?: number) {
    const since = Math.floor(now() / 1000 - daysAgo * 86_400);
    const response = await world.app.http.post(`${path}/resend`, world.team.admin.token, {
      since: Math.max(since, 0),
      include_earlier: true,
      ...(until !== undefined && { until: Math.floor(now() / 1000 - until * 86_400) }),
    });
    expect(response.status).toBe(200);
    return response.body;
  }

  const eventIdsOf = async (webhookId: number) =>
    (await world.findMessages(webhookId)).flatMap(({ eventId }) => eventId ?? []);

  afterEach(() => world.app.services.db.event.deleteMany({ where: { sequence: { gt: 1_000_000 } } }));

  test('adds one message for each event of the range that the webhook wants and has no message for', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const data = { room_id: 7, room_name: 'weekly', display_name: null };
    const [before, first, second, has, after] = await addEvents([
      { daysAgo: 6 },
      { daysAgo: 5, data },
      { daysAgo: 4 },
      { daysAgo: 3 },
      { daysAgo: 2 },
    ]);
    await addEvents([{ type: 'room.left', daysAgo: 4 }]);
    await addEvents([{ daysAgo: 4 }], world.other);
    const createdAt = new Date(now() - 5 * 86_400_000);
    const { id } = await world.addMessage(webhookId, {
      status: 'delivered',
      createdAt: new Date(now() - 3 * 86_400_000),
    });
    await world.app.services.db.webhookMessage.updateMany({ where: { id }, data: { eventId: has ?? null } });
    const notifications = await world.countNotifications(async () => {
      expect(await resend(path, 5.5, 2.5)).toEqual({ count: 2, has_more: 0 });
    });
    expect(notifications).toBe(1);
    const [added, ...others] = await world.findMessages(webhookId);
    expect(added).toMatchObject({
      ...world.newRound(),
      event: 'room.created',
      eventId: first,
      subject: 'room_id:7',
      attempts: 0,
      createdAt,
      payload: JSON.stringify({ event: 'room.created', timestamp: createdAt, data }),
    });
    expect(added?.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(others.map(({ eventId }) => eventId)).toEqual([second, has]);
    expect(await resend(path, 5.5, 2.5)).toEqual({ count: 0, has_more: 0 });
    const sinceRegistered = await world.app.http.post(`${path}/resend`, world.team.admin.token, { since: 0 });
    expect(sinceRegistered.body).toEqual({ count: 0, has_more: 0 });
    expect(await resend(path)).toEqual({ count: 2, has_more: 0 });
    expect(await eventIdsOf(webhookId)).toEqual([before, first, second, has, after]);
  });

  test('leaves out events of erased people, and what retention has removed', async () => {
    const { db, settings } = world.app.services;
    const { id: webhookId, path } = await world.addWebhook();
    const events = ['room.joined', 'room.left', 'booking.created', 'contact.created', 'library_item.uploaded'];
    await db.webhook.updateMany({ where: { id: webhookId }, data: { events: [...events, 'library_item.deleted'] } });
    await db.workspace.update({ where: { id: world.team.id }, data: { mediaRetentionDays: 7 } });
    settings.visitRetentionDays = 3;
    try {
      await addEvents([
        // Older than messages are stored, so that nothing says whether the webhook has got it.
        { type: 'contact.created', daysAgo: 31, data: { contact_id: 1, name: 'Old', email: 'old@example.com' } },
        { type: 'library_item.uploaded', daysAgo: 8, data: { item_id: 1 } },
        { type: 'room.joined', daysAgo: 4, data: { room_id: 1, participant_name: 'Vera' } },
        { type: 'contact.created', data: { contact_id: 1, name: 'Erased', email: 'erased@example.invalid' } },
        {
          type: 'booking.created',
          data: { booking_id: 1, guest_name: 'Erased', guest_email: 'erased@example.invalid' },
        },
        { type: 'room.left', data: { room_id: 1, participant_name: 'Erased' } },
      ]);
      const kept = await addEvents([
        { type: 'library_item.deleted', daysAgo: 8, data: { item_id: 1 } },
        { type: 'library_item.uploaded', daysAgo: 6, data: { item_id: 2 } },
        { type: 'room.left', daysAgo: 2, data: { room_id: 1, participant_name: 'Vera' } },
      ]);
      expect(await resend(path)).toEqual({ count: 3, has_more: 0 });
      expect(await eventIdsOf(webhookId)).toEqual(kept);
      // A failed message about somebody who was erased since is not resent either.
      const erased = JSON.stringify({ event: 'room.left', data: { room_id: 1, participant_name: 'Erased' } });
      const failed = { status: 'failed', nextAttemptAt: null, afterId: null };
      await db.webhookMessage.updateMany({
        where: { webhookId, event: 'room.left' },
        data: { ...failed, payload: erased },
      });
      expect(await resend(path)).toEqual({ count: 0, has_more: 0 });
    } finally {
      settings.visitRetentionDays = 0;
      await db.workspace.update({ where: { id: world.team.id }, data: { mediaRetentionDays: null } });
    }
  });

  test('holds each message behind the one before about its subject, also failed and waiting ones', async () => {
    const { db } = world.app.services;
    const { id: webhookId, path } = await world.addWebhook();
    const ids = await addEvents([1, 2, 1, 1, 2, 1].map((room_id) => ({ data: { room_id } })));
    const message = async (index: number, state: object) => {
      const { id } = await world.addMessage(webhookId, { createdAt: new Date(now() - 86_400_000), ...state });
      const eventSequence = sequence - 5 + index;
      const data = { eventId: ids[index] ?? null, sequence: eventSequence, subject: 'room_id:1', roundAttempts: 0 };
      await db.webhookMessage.updateMany({ where: { id }, data });
      return id;
    };
    const failed = await message(2, { status: 'failed' });
    const queued = await message(0, { status: 'waiting', attempts: 0, jobId: JOB_ID });
    // As the relay adds it: held behind the last message before it.
    const live = await message(5, { status: 'waiting', attempts: 0 });
    await db.webhookMessage.updateMany({ where: { id: live }, data: { afterId: queued } });
    expect(await resend(path)).toEqual({ count: 4, has_more: 0 });
    const messages = await db.webhookMessage.findMany({ where: { webhookId }, orderBy: { sequence: 'asc' } });
    expect(messages.map(({ eventId }) => eventId)).toEqual(ids);
    const [first, second, third, fourth, , last] = messages.map(({ id }) => id);
    expect([first, third, last]).toEqual([queued, failed, live]);
    expect(messages.map(({ afterId }) => afterId)).toEqual([null, null, first, third, second, fourth]);
  });

  test('sends at most 10,000 messages a call, says that there are more, and adds nothing twice at once', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    await addEvents(Array.from({ length: 10_100 }, () => ({})));
    const [one, two] = await Promise.all([resend(path), resend(path)]);
    expect([one.has_more, two.has_more]).toEqual([1, 1]);
    expect(one.count + two.count).toBe(10_000);
    expect(await resend(path)).toEqual({ count: 100, has_more: 0 });
    const messages = await world.findMessages(webhookId);
    expect(messages.length).toBe(10_100);
    expect(new Set(messages.map(({ eventId }) => eventId)).size).toBe(10_100);
  });
});
