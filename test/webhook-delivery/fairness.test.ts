/** Receivers that hang do not take the places of those that answer. */
import { expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { emitAll } from '../../src/events/emit.ts';
import { startTestDelivery } from '../support/delivery.ts';
import { startReceiver } from '../support/receiver.ts';
import { startTestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const PLACES = 256;

test('hung receivers of three workspaces leave places to a fourth', async () => {
  const app = await startTestApp();
  const delivery = await startTestDelivery(app, { timeoutMs: 10_000, maxInFlight: PLACES });
  const hung = await startReceiver(() => {});
  const good = await startReceiver();
  const addHook = (team: Team, url: string) =>
    team.owner.client.webhooks.create.mutate({ id: team.id, name: 'Chat', url, events: ['member.left'] });
  const causeEvents = ({ id }: Team, count: number) => {
    const data = { workspace_id: id, workspace_name: 'Team', user_id: 1, user_name: 'Ada', reason: 'left' } as const;
    const event = { type: 'member.left', workspaceId: id, data } as const;
    return transact(app.services.db, (tx) =>
      emitAll(
        tx,
        app.clock.now(),
        Array.from({ length: count }, () => event),
      ),
    );
  };
  try {
    for (const name of ['One', 'Two', 'Three']) {
      const team = await addTeam(app, name);
      for (let index = 0; index < 5; index += 1) await addHook(team, `${hung.url}/${index}`);
      await causeEvents(team, 100);
    }
    // They have what they get: each its share, of far more that waits.
    await hung.waitFor(60);
    const team = await addTeam(app, 'Four');
    await addHook(team, good.url);
    await causeEvents(team, 1);
    await good.waitFor(1);
    // No hung attempt has ended by then, so no place was waited for.
    expect(await app.services.db.webhookDelivery.count({ where: { workspaceId: { not: team.id } } })).toBe(0);
    expect(hung.requests.length).toBeLessThan(PLACES);
  } finally {
    await hung.close();
    await good.close();
    await delivery.stop();
    await app.close();
  }
});
