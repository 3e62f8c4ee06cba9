/** Operations that wait for the lock of their workspace check the role of the caller behind it. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Input, type Outcome, transports } from '../contract/transports.ts';
import { type MessageWorld, startMessageWorld } from './fixtures/message-world.ts';

let world: MessageWorld;
beforeAll(async () => {
  world = await startMessageWorld();
});
afterAll(() => world.close());

describe.each(transports)('through %s', (_, transport) => {
  test('a caller who is demoted while waiting for the lock gets 403 and changes nothing', async () => {
    const { id: webhookId } = await world.addWebhook(world.other);
    const { deliveryId, id: messageId } = await world.addMessage(webhookId, {}, world.other);
    const name = 'New';
    const inputs: Record<string, Input> = {
      create: { name, url: 'https://example.com/', events: ['room.created'] },
      update: { webhookId, name, toggle: true },
      rotateSecret: { webhookId },
      test: { webhookId },
      resend: { webhookId, deliveryId },
      resendFailed: { webhookId, since: 0 },
      resendMessage: { webhookId, messageId },
    };
    const readRows = async () => [
      await world.app.services.db.webhook.findMany({ where: { workspaceId: world.other.id } }),
      await world.findMessages(webhookId),
    ];
    const before = await readRows();
    const blocker = new pg.Client({ connectionString: world.app.databaseUrl });
    await blocker.connect();
    const setRole = (role: string) =>
      blocker.query('update members set role = $1 where workspace_id = $2 and user_id = $3', [
        role,
        world.other.id,
        world.other.admin.id,
      ]);
    const countWaiting = async (): Promise<number> => {
      const { rows } = await world.client.query(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows[0].count;
    };
    const callWhileDemoted = async (entries: [string, Input][]): Promise<Outcome[]> => {
      await setRole('admin');
      await blocker.query('begin');
      await blocker.query('select 1 from workspaces where id = $1 for update', [world.other.id]);
      const calls = entries.map(([operation, input]) =>
        transport(world.app, {
          name: `webhooks.${operation}`,
          token: world.other.admin.token,
          input: { id: world.other.id, ...input },
        }),
      );
      await expect.poll(countWaiting).toBe(calls.length);
      await setRole('member');
      await blocker.query('commit');
      return Promise.all(calls);
    };
    try {
      const entries = Object.entries(inputs);
      // A user may always use four connections.
      for (const some of [entries.slice(0, 4), entries.slice(4)])
        for (const outcome of await callWhileDemoted(some))
          expect(outcome).toMatchObject({ status: 403, body: { message: 'Forbidden' } });
      expect(await readRows()).toEqual(before);
    } finally {
      await setRole('admin');
      await blocker.end();
    }
  });
});
