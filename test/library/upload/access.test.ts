import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../storage/sources.ts';
import { stagedIn, storedKeys } from '../../support/stored-files.ts';
import { startTestApp, type TestApp } from '../../support/test-app.ts';
import { addTeam, type Team } from '../../support/world.ts';
import { expectNoTrace, tracesOf } from './traces.ts';
import { END, fieldPart, filePart, multipart, partHead, pdfBytes, send, sendEndless } from './wire.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

/** Sends the head of an upload, and nothing more until the answer has arrived. */
async function* sendHeadOnly(answered: Promise<unknown>) {
  yield partHead({});
  await answered;
}

type RejectedCaller = [
  label: string,
  path: () => string,
  token: () => string | undefined,
  status: number,
  error: string,
];

describe('a caller who may not upload is rejected before the body arrives, and nothing is stored', () => {
  const rejectedCallers: RejectedCaller[] = [
    ['no credential', () => team.path, () => undefined, 401, 'Unauthorized'],
    ['an invalid token', () => team.path, () => `lns_${'x'.repeat(43)}`, 401, 'Unauthorized'],
    ['no credential, unknown workspace', () => '/api/workspaces/999999', () => undefined, 401, 'Unauthorized'],
    ['no credential, malformed id', () => '/api/workspaces/x', () => undefined, 401, 'Unauthorized'],
    ['an outsider', () => team.path, () => team.outsider.token, 403, 'Forbidden'],
    ...['999999', '0', '-1', '2147483648', '9'.repeat(300)].map(
      (id): RejectedCaller => [
        `a user, unknown workspace ${id.slice(0, 20)}`,
        () => `/api/workspaces/${id}`,
        () => team.member.token,
        404,
        'Workspace not found',
      ],
    ),
    ...['1.5', '1e3', '01', 'x', '9'.repeat(400), '%00', '١'].map(
      (id): RejectedCaller => [
        `a member, id ${id.slice(0, 20)}`,
        () => `/api/workspaces/${id === '%00' ? id : encodeURI(id)}`,
        () => team.member.token,
        400,
        'id must be a positive 32-bit integer',
      ],
    ),
  ];
  for (const [label, path, token, status, error] of rejectedCallers) {
    test(`${label}: ${status}`, async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const url = `${app.url}${path()}/library`;
      const answer = await send(url, sendHeadOnly(promise), { token: token(), length: 50_000_000 });
      expect([answer.status, answer.body.error]).toEqual([status, error]);
      if (status === 400) expect(answer.body.issues).toEqual([{ path: 'id', message: error }]);
      expect(answer.headers.connection).toBe('close');
      resolve();
      await expectNoTrace(app, team.id);
    });
  }

  for (const connection of ['close', 'keep-alive'] as const) {
    test(`an endless body is answered, and the connection is closed (connection: ${connection})`, async () => {
      const url = `${app.url}${team.path}/library`;
      expect((await sendEndless(url, undefined, connection)).status).toBe(401);
      expect((await sendEndless(url, team.outsider.token, connection)).status).toBe(403);
      expect([await storedKeys(app), await stagedIn(app)]).toEqual([[], []]);
    });
  }

  test('a complete body of an outsider is not stored', async () => {
    const answer = await send(`${app.url}${team.path}/library`, [multipart(filePart())], {
      token: team.outsider.token,
    });
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden']);
    await expectNoTrace(app, team.id);
  });
});

describe('access is checked again when the item is added', () => {
  /** Sends half of an upload, waits until it is being stored, runs `change`, and sends the rest. */
  const uploadDuring = async (target: Team, change: () => Promise<unknown>, after: Buffer[] = []) => {
    const body = async function* () {
      yield partHead({});
      yield* pdfBytes(3_000_000);
      await until(async () => (await stagedIn(app)).length > 0);
      await change();
      yield* pdfBytes(3_000_000);
      yield Buffer.from('\r\n');
      yield* after;
      yield END;
    };
    return send(`${app.url}${target.path}/library`, body(), { token: target.member.token });
  };

  test('a member who is removed during the upload gets 403, and no file is stored', async () => {
    const target = await addTeam(app);
    const answer = await uploadDuring(target, () =>
      app.http.delete(`${target.path}/members/${target.member.id}`, target.owner.token),
    );
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden']);
    await expectNoTrace(app, target.id);
  });

  test('a workspace that is deleted during the upload gives 404, and no file is stored', async () => {
    const target = await addTeam(app);
    const answer = await uploadDuring(target, () => app.http.delete(target.path, target.owner.token), [
      fieldPart('name', 'late'),
    ]);
    expect([answer.status, answer.body.error]).toEqual([404, 'Workspace not found']);
    await expectNoTrace(app, target.id);
  });

  test('a user who deletes the account during the upload gets 403, and no file is stored', async () => {
    const target = await addTeam(app);
    const answer = await uploadDuring(target, () => app.http.delete('/api/auth/me', target.member.token));
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden']);
    await expectNoTrace(app, target.id);
  });

  test('a workspace that is deleted while uploads commit leaves neither rows nor files', async () => {
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
