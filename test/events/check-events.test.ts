/** The check of every event that the tests cause, and that each event is built in one place. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { loggedTypes } from '../../src/events/catalogue.ts';
import { webhookEvents } from '../../src/events/declarations.ts';
import { checkEvent, checkEvents } from '../support/check-events.ts';
import { createDatabase, startTestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

const src = fileURLToPath(new URL('../../src/', import.meta.url));

describe('the check of an event', () => {
  const data = webhookEvents['room.created'].example;

  test('accepts the data of the catalogue', () => {
    expect(() => checkEvent('room.created', data)).not.toThrow();
  });

  test.each([
    ['room.created', { ...data, room_id: undefined }],
    ['room.created', { ...data, room_id: '12' }],
    ['room.created', { ...data, colour: 'blue' }],
    ['room.created', {}],
    ['room.painted', data],
  ])('refuses other data of %s: %j', (type, other) => {
    expect(() => checkEvent(type, other)).toThrow(
      /^(?:An event room.created does not match|The catalogue has no event)/,
    );
  });

  test('finds an event of a database that does not match, even if a statement inserted it', async () => {
    await using database = await openDatabaseWithEvent();
    await expect(checkEvents(database.url)).rejects.toThrow('An event room.created does not match its schema: {}');
  });

  test('is made when an app of a test closes', async () => {
    const app = await startTestApp();
    const { id: workspaceId } = await addTeam(app);
    await app.services.db.event.create({
      data: { workspaceId, type: 'room.created', data: {}, createdAt: new Date() },
    });
    await expect(app.close()).rejects.toThrow('An event room.created does not match its schema');
  });
});

async function openDatabaseWithEvent() {
  const database = await createDatabase();
  const client = new (await import('pg')).default.Client({ connectionString: database.superuserUrl });
  await client.connect();
  await client.query("set session_replication_role = 'replica'");
  await client.query(
    "insert into events (workspace_id, type, data, created_at) values (1, 'room.created', '{}', now())",
  );
  await client.end();
  return { url: database.superuserUrl, [Symbol.asyncDispose]: database.drop };
}

describe('each event', async () => {
  const paths = (await readdir(src, { recursive: true })).filter(
    (path) => path.endsWith('.ts') && !path.startsWith('db/generated/'),
  );
  const built = (
    await Promise.all(
      paths.map(async (path) => {
        const text = await readFile(join(src, path), 'utf8');
        return [...text.matchAll(/(?:\btype: |\binsertEvent\(\s*)'(\w+\.\w+)'/g)].map(([, type]) => ({ type, path }));
      }),
    )
  ).flat();

  test.each(loggedTypes)('%s is built in one place', (type) => {
    expect(built.filter((one) => one.type === type)).toHaveLength(1);
  });
});
