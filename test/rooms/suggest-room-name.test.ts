/** Generated room names. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRoom } from '../../src/features/rooms/create-room.ts';
import { adjectives, nouns } from '../../src/features/rooms/name-words.ts';
import { defaultQuotas } from '../../src/quotas/quotas.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, type Person } from '../support/world.ts';

describe('the word lists', () => {
  test.each([
    ['adjectives', adjectives],
    ['nouns', nouns],
  ])('%s: at least 200 different words of lower-case a-z', (_, words) => {
    expect(words.length).toBeGreaterThanOrEqual(200);
    expect(new Set(words).size).toBe(words.length);
    expect(words.filter((word) => !/^[a-z]{3,12}$/.test(word))).toEqual([]);
  });
});

describe('suggestions', () => {
  let app: TestApp;
  let ada: Person;
  beforeAll(async () => {
    app = await startTestApp({ settings: { quotas: { ...defaultQuotas, rooms: 0 } } });
    ada = await addPerson(app);
  });
  afterAll(() => app.close());

  const suggest = async (): Promise<string> => (await app.http.get('/api/dashboard/generate-name')).body.name;

  test('need no credential, and are random', async () => {
    const names = await Promise.all(Array.from({ length: 20 }, suggest));
    for (const name of names) expect(name).toMatch(/^[a-z]+-[a-z]+$/);
    expect(new Set(names).size).toBeGreaterThan(10);
  });

  test('ignore an invalid credential', async () => {
    expect((await app.http.get('/api/dashboard/generate-name', 'lns_none')).status).toBe(200);
  });

  test('are tried again if another room gets the name first', async () => {
    const taken = (await app.http.post('/api/dashboard/rooms', ada.token)).body.room.name;
    const suggestions = [[taken], [taken, taken], [taken, 'free-at-last', 'unused']];
    const caller = {
      userId: ada.id,
      name: ada.name,
      email: ada.email,
      emailVerified: false,
      awaitsConfirmation: false,
      recordingMail: true,
      createdAt: app.clock.now(),
      credential: { kind: 'session', id: 1, authenticatedAt: new Date() },
      address: null,
      unmetIn: {},
    } as const;
    const room = await createRoom(app.services, caller, {}, () => suggestions.shift() ?? [taken]);
    expect(room.name).toBe('free-at-last');
    await expect(createRoom(app.services, caller, {}, () => [taken])).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
  });

  test('are never taken: if all pairs of words are, a number follows', async () => {
    const { db } = app.services;
    await db.$executeRaw`
      insert into rooms (workspace_id, name, user_id, accent_color, created_at, last_used_at)
      select w.id, a || '-' || n, w.owner_id, '#000', now(), now()
      from workspaces w, unnest(${[...adjectives]}::text[]) a, unnest(${[...nouns]}::text[]) n
      where w.owner_id = ${ada.id} on conflict do nothing`;
    expect(await suggest()).toMatch(/^[a-z]+-[a-z]+-\d{4,6}$/);
    const { body } = await app.http.post('/api/dashboard/rooms', ada.token);
    expect(body.room.name).toMatch(/^[a-z]+-[a-z]+-\d{4,6}$/);
  });

  test('a list without a limit has a maximum', async () => {
    const { body } = await app.http.get('/api/dashboard/rooms', ada.token);
    expect(body.rooms).toHaveLength(1_000);
  });
});
