/** Updating webhooks: only what is sent changes, and activating resets the failures. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { invalidInputs } from './fixtures/invalid-inputs.ts';
import { fieldNames, startWebhookWorld, type WebhookWorld } from './fixtures/webhook-world.ts';

let world: WebhookWorld;
beforeAll(async () => {
  world = await startWebhookWorld();
});
afterAll(() => world.close());

describe('updating a webhook', () => {
  const patch = (id: number, json?: unknown) =>
    world.app.http.patch(`${world.path}/${id}`, world.team.admin.token, json);

  test('changes only the fields that are sent, and updated_at', async () => {
    const { secret: _, ...webhook } = await world.addWebhook();
    world.app.clock.advance(5_000);
    const named = await patch(webhook.id, { name: ' Renamed ' });
    expect(named.status).toBe(200);
    expect(fieldNames(named.body)).toEqual(['webhook']);
    const { updated_at } = named.body.webhook;
    expect(updated_at).toBeGreaterThanOrEqual(Number(webhook.updated_at) + 5);
    expect(named.body.webhook).toEqual({ ...webhook, name: 'Renamed', updated_at });
    const all = await patch(webhook.id, {
      url: 'http://example.org',
      events: ['room.left', 'room.left'],
      toggle: true,
    });
    expect(all.body.webhook).toMatchObject({
      name: 'Renamed',
      url: 'http://example.org',
      events: '["room.left"]',
      is_active: 0,
      created_at: webhook.created_at,
    });
  });

  test.each([
    [undefined],
    [{}],
    [{ toggle: false }],
    [{ is_active: 1 }],
    [{ is_active: true }],
    [{ secret: 'whsec_x', failure_count: 9, id: 1, workspace_id: 1 }],
  ])('with %j changes nothing, not even updated_at', async (json) => {
    const { secret, ...webhook } = await world.addWebhook();
    const before = await world.findRow(webhook.id);
    world.app.clock.advance(5_000);
    expect(await patch(webhook.id, json)).toMatchObject({ status: 200, body: { webhook: webhook } });
    expect(await world.findRow(webhook.id)).toEqual(before);
  });

  test('with toggle true inverts the state', async () => {
    const { id } = await world.addWebhook();
    for (const is_active of [0, 1, 0])
      expect((await patch(id, { toggle: true })).body.webhook).toMatchObject({ is_active });
  });

  test('with is_active sets the state; setting it to the same value changes nothing', async () => {
    const { id } = await world.addWebhook();
    for (const [is_active, expected] of [
      [0, 0],
      [false, 0],
      [1, 1],
      [true, 1],
      [false, 0],
    ] as const) {
      const before = await world.findRow(id);
      world.app.clock.advance(5_000);
      const { status, body } = await patch(id, { is_active });
      expect([status, body.webhook.is_active]).toEqual([200, expected]);
      if (before.isActive === Boolean(expected)) expect(await world.findRow(id)).toEqual(before);
    }
    const responses = await concurrently(20, () => patch(id, { is_active: 1 }));
    expect(countStatuses(responses)).toEqual({ 200: 20 });
    expect((await world.findRow(id)).isActive).toBe(true);
  });

  test.each([{ failureCount: 7 }, { failureCount: 0 }])('with is_active 1 activates as toggle: %j', async (failed) => {
    const { id } = await world.addWebhook();
    const reason = { disabledReason: 'The receiver responded with 410 Gone', failingSince: new Date(), isSlow: true };
    await world.app.services.db.webhook.updateMany({
      where: { id },
      data: { ...failed, ...reason, isActive: false },
    });
    expect((await patch(id, { is_active: 1 })).body.webhook).toMatchObject({ is_active: 1, failure_count: 0 });
    expect(await world.findRow(id)).toMatchObject({ disabledReason: null, failingSince: null, isSlow: false });
    await world.app.services.db.webhook.updateMany({ where: { id }, data: failed });
    expect((await patch(id, { is_active: 1 })).body.webhook.failure_count).toBe(failed.failureCount);
  });

  test.each([true, false])('with toggle %s and is_active is refused, and changes nothing', async (flag) => {
    const { id } = await world.addWebhook();
    const before = await world.findRow(id);
    const message = 'Send either toggle or is_active';
    expect(await patch(id, { toggle: flag, is_active: 0, name: 'Other' })).toMatchObject({
      status: 400,
      body: { message, issues: [{ path: 'is_active', message }] },
    });
    expect(await world.findRow(id)).toEqual(before);
  });

  test('resets the failures and disabled_reason only if it activates', async () => {
    const { id } = await world.addWebhook();
    const since = new Date('2026-01-01T00:00:00Z');
    const failed = {
      failureCount: 7,
      disabledReason: 'All attempts of the last 5 days failed',
      failingSince: since,
      isSlow: true,
    };
    const unchanged = { failure_count: 7, disabled_reason: failed.disabledReason };
    await world.app.services.db.webhook.updateMany({ where: { id }, data: { ...failed, isActive: false } });
    expect((await patch(id, { name: 'Other', toggle: false })).body.webhook).toMatchObject({
      ...unchanged,
      is_active: 0,
    });
    expect(await world.findRow(id)).toMatchObject({ failingSince: since, isSlow: true });
    const active = await patch(id, { toggle: true });
    expect(active.body.webhook).toMatchObject({ is_active: 1, failure_count: 0, disabled_reason: null });
    expect(await world.findRow(id)).toMatchObject({ failingSince: null, isSlow: false });
    await world.app.services.db.webhook.updateMany({ where: { id }, data: { failureCount: 7 } });
    expect((await patch(id, { toggle: true })).body.webhook).toMatchObject({ is_active: 0, failure_count: 7 });
  });

  test.each([
    ...invalidInputs.filter(([, part]) => Object.values(part).every((value) => value !== undefined && value !== null)),
    ['toggle 1', { toggle: 1 }, 'toggle', 'toggle must be a boolean'],
    ['toggle "true"', { toggle: 'true' }, 'toggle', 'toggle must be a boolean'],
    ['is_active 2', { is_active: 2 }, 'is_active', 'is_active must be one of 0, 1, false, true'],
  ] as typeof invalidInputs)('with %s is refused, and changes nothing', async (_, part, path, message) => {
    const { id } = await world.addWebhook();
    const before = await world.findRow(id);
    const { status, body } = await patch(id, { toggle: true, name: 'Other', ...part });
    expect(status).toBe(400);
    expect(body.message).toBe(message);
    expect(body.issues).toContainEqual({ path, message });
    expect(await world.findRow(id)).toEqual(before);
  });

  test('50 times at once with toggle inverts the state 50 times', async () => {
    const { id } = await world.addWebhook();
    const responses = await concurrently(50, () => patch(id, { toggle: true }));
    expect(countStatuses(responses)).toEqual({ 200: 50 });
    expect(responses.filter(({ body }) => body.webhook.is_active === 1).length).toBe(25);
    expect((await world.findRow(id)).isActive).toBe(true);
  });

  test('while it is deleted returns 200 or 404', async () => {
    await concurrently(10, async () => {
      const { id } = await world.addWebhook();
      const [changed, deleted] = await Promise.all([
        patch(id, { toggle: true, name: 'Other' }),
        world.app.http.delete(`${world.path}/${id}`, world.team.owner.token),
      ]);
      expect([200, 404]).toContain(changed.status);
      expect(deleted.status).toBe(200);
    });
  });
});
