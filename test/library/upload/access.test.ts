import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../storage/sources.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { expectNoTrace, objectsOf, stagedIn, tracesOf } from './traces.ts';
import { END, fieldPart, filePart, multipart, partHead, pdfBytes, send, sendEndless } from './wire.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

/** Sends the head of an upload, and nothing more until the answer is there. */
async function* silent(answered: Promise<unknown>) {
  yield partHead({});
  await answered;
}

type Stranger = [label: string, path: () => string, token: () => string | undefined, status: number, error: string];

describe('who may not upload hears so while the body is still to come, and nothing is stored', () => {
  const strangers: Stranger[] = [
    ['nobody', () => team.path, () => undefined, 401, 'Unauthorized'],
    ['a false token', () => team.path, () => `lns_${'x'.repeat(43)}`, 401, 'Unauthorized'],
    ['nobody, in no workspace', () => '/api/workspaces/999999', () => undefined, 401, 'Unauthorized'],
    ['nobody, with a malformed id', () => '/api/workspaces/x', () => undefined, 401, 'Unauthorized'],
    ['an outsider', () => team.path, () => team.outsider.token, 403, 'Forbidden'],
    ['a member, in no workspace', () => '/api/workspaces/999999', () => team.member.token, 404, 'Workspace not found'],
    ...['0', '-1', '1.5', '1e3', '01', 'x', '2147483648', '9'.repeat(400), '%00', '١'].map(
      (id): Stranger => [
        `a member, with the id ${id.slice(0, 20)}`,
        () => `/api/workspaces/${id === '%00' ? id : encodeURI(id)}`,
        () => team.member.token,
        400,
        'id must be a positive 32-bit integer',
      ],
    ),
  ];
  for (const [label, path, token, status, error] of strangers) {
    test(`${label}: ${status}`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const url = `${app.url}${path()}/library`;
      const answer = await send(url, silent(promise), { token: token(), length: 50_000_000 });
      expect([answer.status, answer.body.error]).toEqual([status, error]);
      if (status === 400) expect(answer.body.issues).toEqual([{ path: 'id', message: error }]);
      expect(answer.headers.connection).toBe('close');
      resolve();
      await expectNoTrace(app, team.id);
    });
  }

  for (const connection of ['close', 'keep-alive'] as const) {
    test(`a body without end is answered, and the connection is cut (connection: ${connection})`, async () => {
      const url = `${app.url}${team.path}/library`;
      expect((await sendEndless(url, undefined, connection)).status).toBe(401);
      expect((await sendEndless(url, team.outsider.token, connection)).status).toBe(403);
      expect([await objectsOf(app), await stagedIn(app)]).toEqual([[], []]);
    });
  }

  test('a whole body of an outsider stores nothing', async () => {
    const answer = await send(`${app.url}${team.path}/library`, [multipart(filePart())], {
      token: team.outsider.token,
    });
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden']);
    await expectNoTrace(app, team.id);
  });

  test('the body does not matter before the right to send it', async () => {
    const json = { contentType: 'application/json' };
    const url = `${app.url}${team.path}/library`;
    const body = [Buffer.from('{')];
    expect((await send(url, body, json)).status).toBe(401);
    expect((await send(url, body, { ...json, token: team.outsider.token })).status).toBe(403);
    expect((await send(url, body, { ...json, token: team.member.token })).status).toBe(400);
  });
});

describe('the right to upload must last until the item is there', () => {
  /** Sends half of an upload, waits until it is being stored, does `meanwhile`, and sends the rest. */
  const interrupted = async (target: Team, meanwhile: () => Promise<unknown>, after: Buffer[] = []) => {
    const body = async function* () {
      yield partHead({});
      yield* pdfBytes(3_000_000);
      await until(async () => (await stagedIn(app)).length > 0);
      await meanwhile();
      yield* pdfBytes(3_000_000);
      yield Buffer.from('\r\n');
      yield* after;
      yield END;
    };
    return send(`${app.url}${target.path}/library`, body(), { token: target.member.token });
  };

  test('a member who is removed meanwhile: 403, and no file', async () => {
    const target = await addTeam(app);
    const answer = await interrupted(target, () =>
      app.http.delete(`${target.path}/members/${target.member.id}`, target.owner.token),
    );
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden']);
    await expectNoTrace(app, target.id);
  });

  test('a workspace that is deleted meanwhile: 404, and no file', async () => {
    const target = await addTeam(app);
    const answer = await interrupted(target, () => app.http.delete(target.path, target.owner.token), [
      fieldPart('name', 'late'),
    ]);
    expect([answer.status, answer.body.error]).toEqual([404, 'Workspace not found']);
    await expectNoTrace(app, target.id);
  });

  test('an account that is deleted meanwhile: 403, and no file', async () => {
    const target = await addTeam(app);
    const answer = await interrupted(target, () => app.http.delete('/api/auth/me', target.member.token));
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden']);
    await expectNoTrace(app, target.id);
  });

  test('a workspace that is deleted while uploads into it commit ends with neither rows nor files', async () => {
    const target = await addTeam(app);
    const url = `${app.url}${target.path}/library`;
    const uploads = Array.from({ length: 12 }, () =>
      send(url, [multipart(filePart())], { token: target.member.token }),
    );
    await Promise.race(uploads);
    await app.http.delete(target.path, target.owner.token);
    const statuses = (await Promise.all(uploads)).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([]);
    await until(async () => (await app.services.db.discardedObject.count()) === 0);
    expect(await tracesOf(app, target.id)).toMatchObject({ rows: 0, objects: 0, staged: 0 });
  });
});
