/** An operation that loses a race each time that it tries ends with 503, not with 500. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { at, createPage } from '../bookings/pages.ts';
import { addRoom } from '../participants/rooms.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
  team = await addTeam(app);
});
afterAll(() => app.close());

/** From now on, rows of the table are not inserted, as if another transaction had just inserted the same. */
async function skipInserts(table: 'rooms' | 'participants' | 'bookings'): Promise<void> {
  await app.services.db.$executeRawUnsafe(`
    create or replace function skip_row() returns trigger language plpgsql as 'begin return null; end'`);
  await app.services.db.$executeRawUnsafe(
    `create trigger skip_rows before insert on ${table} for each row execute function skip_row()`,
  );
}

async function expectBusy(path: string, token: string | undefined, json: object): Promise<void> {
  const { status, headers, body } = await app.http.post(path, token, json);
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  expect(JSON.stringify(body)).toContain('The service is busy: try again in a moment');
}

test('joining a room, creating one without a name, and booking, by REST and tRPC', async () => {
  const { name: roomName } = await addRoom(app, team, team.owner);
  const { slug } = await createPage(app, team);
  await skipInserts('participants');
  await expectBusy(`/api/rooms/${roomName}/join`, undefined, { name: 'Gina' });
  await expectBusy('/trpc/participants.join', undefined, { roomName, name: 'Gina' });
  await skipInserts('rooms');
  await expectBusy('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id });
  await expectBusy('/trpc/rooms.create', team.owner.token, { workspace_id: team.id });
  const guest = { name: 'Vera', email: 'vera@example.com', starts_at: at('2026-06-16T09:00:00Z') };
  await expectBusy(`/api/book/${slug}`, undefined, guest);
  await expectBusy('/trpc/bookings.book', undefined, { slug, ...guest });
});
