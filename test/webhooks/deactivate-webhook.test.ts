/** What happens to the messages of a webhook that is deactivated or deleted. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JOB_ID, type MessageWorld, startMessageWorld } from './fixtures/message-world.ts';

const INACTIVE = 'The webhook is inactive: activate it first';

let world: MessageWorld;
beforeAll(async () => {
  world = await startMessageWorld();
});
afterAll(() => world.close());

describe('deactivating a webhook', () => {
  test.each([
    ['toggle', false],
    ['is_active', true],
  ])('by %s cancels its pending messages only; activating it does not restore them', async (_, isSet) => {
    const { id: webhookId, path } = await world.addWebhook();
    const pending = [
      await world.addMessage(webhookId, { status: 'waiting' }),
      await world.addMessage(webhookId, { status: 'waiting', jobId: JOB_ID }),
    ];
    const left = [
      await world.addMessage(webhookId, { status: 'failed' }),
      await world.addMessage(webhookId, { status: 'delivered' }),
      await world.addMessage((await world.addWebhook()).id, { status: 'waiting', jobId: JOB_ID }),
    ];
    const before = await Promise.all(left.map(({ id }) => world.findMessage(id)));
    const cancelled = { status: 'cancelled', jobId: null, nextAttemptAt: null, updatedAt: world.app.clock.now() };
    const set = () => world.app.http.patch(path, world.team.admin.token, { is_active: 0 });
    for (const [change, is_active] of [
      [isSet ? set : () => world.toggle(path), 0],
      [() => world.toggle(path), 1],
    ] as const) {
      expect((await change()).body.webhook).toMatchObject({ is_active });
      for (const { id } of pending) expect(await world.findMessage(id)).toMatchObject(cancelled);
      expect(await Promise.all(left.map(({ id }) => world.findMessage(id)))).toEqual(before);
    }
  });

  test('cancels pending messages, and changes that keep their event do not', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const { id } = await world.addMessage(webhookId, { status: 'waiting', jobId: JOB_ID });
    const before = await world.findMessage(id);
    const change = { name: 'New', url: 'https://example.org/', events: ['room.created', 'room.left'], toggle: false };
    expect((await world.app.http.patch(path, world.team.admin.token, change)).status).toBe(200);
    expect((await world.app.http.post(`${path}/rotate-secret`, world.team.admin.token)).status).toBe(200);
    expect(await world.findMessage(id)).toEqual(before);
  });

  test('refuses tests and resending with 409', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    const { id, deliveryId } = await world.addMessage(webhookId);
    const before = await world.findMessage(id);
    await world.toggle(path);
    const { token } = world.team.owner;
    for (const response of [
      await world.app.http.post(`${path}/messages/${id}/resend`, token),
      await world.app.http.post(`${path}/test`, token),
      await world.app.http.post(`${path}/deliveries/${deliveryId}/resend`, token),
      await world.app.http.post(`${path}/resend`, token, { since: 0 }),
    ])
      expect(response).toMatchObject({ status: 409, body: { message: INACTIVE, code: 'CONFLICT' } });
    expect(await world.findMessages(webhookId)).toEqual([before]);
  });

  test('while tests and resends are requested, leaves no message waiting', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: webhookId, path } = await world.addWebhook();
      const { deliveryId } = await world.addMessage(webhookId);
      const { token } = world.team.owner;
      const [off, ...rest] = await Promise.all([
        world.toggle(path),
        world.app.http.post(`${path}/deliveries/${deliveryId}/resend`, token),
        world.app.http.post(`${path}/test`, token),
        world.app.http.post(`${path}/resend`, token, { since: 0 }),
      ]);
      expect(off.status).toBe(200);
      for (const { status } of rest) expect([200, 409]).toContain(status);
      for (const { status } of await world.findMessages(webhookId)) expect(status).not.toBe('waiting');
    }
  });
});

describe('deleting a webhook', () => {
  test('deletes its messages and attempts, also pending messages', async () => {
    const { id: webhookId, path } = await world.addWebhook();
    await world.addMessage(webhookId, { status: 'waiting', jobId: JOB_ID });
    await world.addMessage(webhookId);
    expect((await world.app.http.delete(path, world.team.owner.token)).status).toBe(200);
    expect(await world.findMessages(webhookId)).toEqual([]);
    expect(await world.app.services.db.webhookDelivery.count({ where: { webhookId } })).toBe(0);
  });

  test('while tests and resends are requested, succeeds and leaves no message', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id: webhookId, path } = await world.addWebhook();
      const { deliveryId } = await world.addMessage(webhookId);
      const { token } = world.team.owner;
      const [gone, ...rest] = await Promise.all([
        world.app.http.delete(path, token),
        world.app.http.post(`${path}/deliveries/${deliveryId}/resend`, token),
        world.app.http.post(`${path}/test`, token),
        world.app.http.post(`${path}/rotate-secret`, token),
        world.toggle(path),
      ]);
      expect(gone.status).toBe(200);
      for (const { status } of rest) expect([200, 404, 409]).toContain(status);
      expect(await world.findMessages(webhookId)).toEqual([]);
    }
  });
});
