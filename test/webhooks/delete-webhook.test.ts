import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ database: { statementTimeoutMs: 2_000, requestTimeoutMs: 4_000 } });
});
afterAll(() => app.close());

test('a webhook is deleted even if its messages take longer than the time limit of a statement', async () => {
  const { db } = app.services;
  const { id, owner } = await addTeam(app);
  const input = { id, name: 'Chat', url: 'https://example.com/', events: ['room.created' as const] };
  const { webhook } = await owner.client.webhooks.create.mutate(input);
  const now = new Date();
  const message = { event: 'room.created', payload: '{}', status: 'delivered', createdAt: now, updatedAt: now };
  await db.webhookMessage.create({ data: { ...message, workspaceId: id, id: 'msg_1', webhookId: webhook.id } });
  // As slow as hundreds of thousands of messages.
  await db.$executeRaw`
    create function delete_slowly() returns trigger language plpgsql as 'begin perform pg_sleep(5); return old; end'`;
  await db.$executeRaw`
    create trigger slow before delete on webhook_messages for each row execute function delete_slowly()`;
  expect(await owner.client.webhooks.delete.mutate({ id, webhookId: webhook.id })).toEqual({ ok: true });
  expect(await db.webhookMessage.count()).toBe(0);
});
