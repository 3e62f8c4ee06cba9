/** The typed client: its errors, and the operations that send or receive files. */
import { getUntypedClient } from '@trpc/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Client,
  ConnectionError,
  createClient,
  isLynxroomError,
  LynxroomError,
  type Progress,
} from '../../packages/client/src/index.ts';
import { codeOf, fromBase32, stepAt } from '../../src/auth/totp.ts';
import { appRouter } from '../../src/routers/index.ts';
import { listOperations } from '../../src/trpc/operations.ts';
import { document } from '../support/api.ts';
import { jpeg } from '../support/images.ts';
import { makeMp4, makePdf } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD } from '../support/world.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
}

test('a failed procedure and a failed upload reject with the same LynxroomError', async () => {
  const { client } = await addPerson(app);
  const expected = { status: 404, code: 'NOT_FOUND', message: 'Workspace not found', issues: [] };
  const id = 999_999;
  const file = new File(['%PDF-1.7'], 'a.pdf', { type: 'application/pdf' });
  for (const call of [() => client.labels.list.query({ id }), () => client.upload({ id, file })]) {
    const found = await reasonOf(call());
    expect(found).toBeInstanceOf(LynxroomError);
    expect(found).toMatchObject({ ...expected, requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    expect(isLynxroomError(found)).toBe(true);
  }
});

test('a failed connection is not a LynxroomError', async () => {
  const client = createClient({ url: 'http://127.0.0.1:1', token: 'lns_x' });
  const reason = await reasonOf(client.workspaces.list.query());
  expect(reason).toBeInstanceOf(Error);
  expect(isLynxroomError(reason)).toBe(false);
});

test('the token may change between calls', async () => {
  const { token, name } = await addPerson(app);
  let current: string | undefined;
  const client = createClient({ url: `${app.url}/`, token: () => current });
  expect(await reasonOf(client.auth.me.query())).toMatchObject({ code: 'UNAUTHORIZED' });
  current = token;
  expect((await client.auth.me.query()).user.name).toBe(name);
});

test.each(['<h1>Bad gateway</h1>', 'null', '{}'])(
  'an error response with the body %s is a LynxroomError',
  async (body) => {
    const fetch = async () => new Response(body, { status: 502 });
    const client = createClient({ url: 'http://127.0.0.1:1', fetch });
    expect(await reasonOf(client.exportContacts({ id: 1 }))).toMatchObject({
      name: 'LynxroomError',
      status: 502,
      code: 'UNKNOWN',
      message: 'The request failed with status 502',
      requestId: '',
      issues: [],
    });
  },
);

const CSV = 'name,email\r\nVera Novak,vera@example.com\r\nnobody,no address\r\n';

test('contacts are imported from CSV and exported as CSV', async () => {
  const { id, admin, member } = await addTeam(app);
  for (const [csv, created] of [
    [CSV, 1],
    [new Blob([CSV]), 0],
  ] as const) {
    const answer = await admin.client.importContacts({ id, csv });
    expect([answer.created, answer.updated, answer.skipped_count]).toEqual([created, 1 - created, 1]);
  }
  const exported = await admin.client.exportContacts({ id });
  expect(exported.type).toMatch(/^text\/csv/);
  expect(await exported.text()).toContain('Vera Novak,vera@example.com');
  for (const call of [() => member.client.exportContacts({ id }), () => member.client.importContacts({ id, csv: CSV })])
    expect(await reasonOf(call())).toMatchObject({ status: 403, message: 'Forbidden' });
});

test('what a workspace holds about an address is exported as JSON', async () => {
  const { id, admin, member } = await addTeam(app);
  const email = 'vera+news@example.com';
  await admin.client.contacts.create.mutate({ id, name: 'Vera Novak', email });
  const exported = await admin.client.exportPerson({ id, email });
  expect(exported.type).toMatch(/^application\/json/);
  expect(JSON.parse(await exported.text())).toMatchObject({ person: { email }, contacts: [{ name: 'Vera Novak' }] });
  expect(await reasonOf(member.client.exportPerson({ id, email }))).toMatchObject({ status: 403 });
});

test('what belongs to an account is exported as JSON', async () => {
  const { client, email } = await addPerson(app);
  const exported = await client.exportAccount();
  expect(exported.type).toMatch(/^application\/json/);
  expect(await exported.text()).toContain(email);
});

test("a recording is uploaded with its upload token or with the token of the room's user", async () => {
  const { client } = await addPerson(app);
  const { room } = await client.rooms.create.mutate({});
  const file = new Blob([Uint8Array.from(makeMp4({ durationSeconds: 5, moov: 'front' }))], { type: 'video/mp4' });
  const stranger = createClient({ url: app.url });
  for (const isByToken of [true, false]) {
    const { recording, upload_token: uploadToken } = await client.recordings.start.mutate({ name: room.name });
    const recordingId = recording.id;
    const refused = await reasonOf(stranger.uploadRecording({ recordingId, file }));
    expect(refused).toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
    const uploaded = isByToken
      ? await stranger.uploadRecording({ recordingId, uploadToken, file })
      : await client.uploadRecording({ recordingId, file });
    expect(uploaded).toMatchObject({ id: recordingId, status: 'available', duration: 5 });
    const again = await reasonOf(stranger.uploadRecording({ recordingId, uploadToken, file }));
    expect(again).toMatchObject({ status: 409, message: 'The recording already has a file' });
  }
});

test('an item and a recording get posters: an upload token is enough for the one of its recording', async () => {
  const { id, member, outsider } = await addTeam(app);
  const image = new Blob([Uint8Array.from(jpeg)]);
  const item = await member.client.upload({ id, file: new File([Uint8Array.from(makePdf({}))], 'a.pdf') });
  const withPoster = await member.client.setPoster({ id, itemId: item.id, image });
  expect([item.poster_url, withPoster.poster_url]).toEqual([null, expect.stringMatching(/\/poster\?v=/)]);
  expect(await reasonOf(outsider.client.setPoster({ id, itemId: item.id, image }))).toMatchObject({ status: 403 });
  const noImage = await reasonOf(member.client.setPoster({ id, itemId: item.id, image: new Blob(['no image']) }));
  expect(noImage).toMatchObject({ status: 400, code: 'BAD_REQUEST' });

  const { room } = await member.client.rooms.create.mutate({});
  const { recording, upload_token: uploadToken } = await member.client.recordings.start.mutate({ name: room.name });
  const guest = createClient({ url: app.url });
  expect(await reasonOf(guest.setRecordingPoster({ recordingId: recording.id, image }))).toMatchObject({ status: 401 });
  for (const set of [
    () => guest.setRecordingPoster({ recordingId: recording.id, uploadToken, image }),
    () => member.client.setRecordingPoster({ recordingId: recording.id, image }),
  ]) {
    expect((await set()).poster_url).toMatch(/\/poster\?v=/);
  }
});

describe('an aborted call', () => {
  const file = new Blob(['x'], { type: 'video/mp4' });
  const large = new Blob([new Uint8Array(9 * 1024 * 1024)], { type: 'video/mp4' });
  const first = (client: Client, signal: AbortSignal) =>
    client.paginate(client.labels.list, { id: 1 }, { signal }).next();
  const calls: [string, (client: Client, signal: AbortSignal) => Promise<unknown>][] = [
    ['query', (client, signal) => client.auth.me.query(undefined, { signal })],
    ['mutation', (client, signal) => client.labels.create.mutate({ id: 1, name: 'Red' }, { signal })],
    [
      'mutation without a key',
      (client, signal) => client.bookings.lookUp.mutate({ slug: 'a', token: 'b' }, { signal }),
    ],
    ['paginate', first],
    ['upload', (client, signal) => client.upload({ id: 1, file }, { signal })],
    ['upload in parts', (client, signal) => client.upload({ id: 1, file: large }, { signal })],
    ['uploadRecording', (client, signal) => client.uploadRecording({ recordingId: 1, file }, { signal })],
    ['setPoster', (client, signal) => client.setPoster({ id: 1, itemId: 1, image: file }, { signal })],
    ['setRecordingPoster', (client, signal) => client.setRecordingPoster({ recordingId: 1, image: file }, { signal })],
    ['setLogo', (client, signal) => client.setLogo({ id: 1, image: file }, { signal })],
    ['importContacts', (client, signal) => client.importContacts({ id: 1, csv: CSV }, { signal })],
    ['exportContacts', (client, signal) => client.exportContacts({ id: 1 }, { signal })],
    ['exportAccount', (client, signal) => client.exportAccount({ signal })],
    ['exportPerson', (client, signal) => client.exportPerson({ id: 1, email: 'vera@example.com' }, { signal })],
  ];
  const never = () => new Promise<never>(() => {});

  test.each(calls)(
    'of the kind %s rejects with the reason of its signal, and is not sent if it comes late',
    async (_, call) => {
      const sent: unknown[] = [];
      const client = createClient({ url: app.url, fetch: async (url) => sent.push(url) as never });
      const early = await reasonOf(call(client, AbortSignal.abort()));
      expect([early, isLynxroomError(early)]).toEqual([expect.objectContaining({ name: 'AbortError' }), false]);
      for (const reason of [new Error('Cancelled by the user'), 'a text'])
        expect(await reasonOf(call(client, AbortSignal.abort(reason)))).toBe(reason);
      expect(sent).toEqual([]);
    },
  );

  test.each(calls)('of the kind %s rejects so while it waits for a token or for its answer', async (_, call) => {
    const reason = new Error('Cancelled by the user');
    for (const kind of ['token', 'answer', 'body']) {
      const abort = new AbortController();
      let isWaiting: () => void = () => {};
      const waiting = new Promise<void>((resolve) => {
        isWaiting = resolve;
      });
      const wait = () => {
        isWaiting();
        return never();
      };
      const body = { pull: wait };
      const client = createClient({
        url: app.url,
        token: kind === 'token' ? wait : 'lns_x',
        // Neither heeds the signal.
        fetch: kind === 'body' ? async () => new Response(new ReadableStream(body)) : wait,
      });
      const call_ = reasonOf(call(client, abort.signal));
      await waiting;
      abort.abort(reason);
      expect(await call_).toBe(reason);
    }
  });

  test('leaves the others in its request alone', async () => {
    const { client } = await addPerson(app);
    const abort = new AbortController();
    const aborted = reasonOf(client.auth.me.query(undefined, { signal: abort.signal }));
    const other = client.workspaces.list.query({});
    abort.abort('enough');
    expect(await aborted).toBe('enough');
    expect((await other).workspaces).toHaveLength(1);
  });

  test('of paginate ends before the next entry', async () => {
    const { id, owner } = await addTeam(app);
    for (const name of ['Red', 'Green']) await owner.client.labels.create.mutate({ id, name });
    const abort = new AbortController();
    const entries = owner.client.paginate(owner.client.labels.list, { id }, { signal: abort.signal });
    expect((await entries.next()).value?.name).toBe('Red');
    abort.abort('enough');
    expect(await reasonOf(entries.next())).toBe('enough');
  });
});

test('more calls in one tick than a batch may have are sent in several requests', async () => {
  const { client } = await addPerson(app);
  const users = await Promise.all(Array.from({ length: 120 }, () => client.auth.me.query()));
  expect(new Set(users.map(({ user }) => user.id)).size).toBe(1);
});

describe('onUnauthorized', () => {
  const pdf = () => new File(['%PDF-1.7'], 'a.pdf', { type: 'application/pdf' });

  test('is called once for each call whose session has ended or is unknown', async () => {
    const { token, client: own } = await addPerson(app);
    const codes: string[] = [];
    const client = createClient({ url: app.url, token, onUnauthorized: ({ code }) => codes.push(code) });
    await client.auth.me.query();
    await own.auth.logout.mutate();
    expect(codes).toEqual([]);
    await reasonOf(client.auth.me.query());
    await reasonOf(client.exportContacts({ id: 1 }));
    await reasonOf(client.importContacts({ id: 1, csv: 'email' }));
    await reasonOf(client.upload({ id: 1, file: pdf() }));
    await reasonOf(client.setPoster({ id: 1, itemId: 1, image: pdf() }));
    expect(codes).toEqual(Array(5).fill('UNAUTHORIZED'));
  });

  test('is not called for a wrong password, a wrong code or a wrong upload token', async () => {
    const { token, email } = await addPerson(app);
    const codes: string[] = [];
    const client = createClient({ url: app.url, token, onUnauthorized: ({ code }) => codes.push(code) });
    const { secret } = await client.secondFactor.setUp.mutate();
    await client.secondFactor.confirm.mutate({ code: codeOf(fromBase32(secret), stepAt(app.clock.now())) });
    const refused: [() => Promise<unknown>, string][] = [
      [() => client.auth.login.mutate({ email, password: 'wrong password' }), 'UNAUTHORIZED'],
      [() => client.auth.login.mutate({ email, password: PASSWORD }), 'SECOND_FACTOR_REQUIRED'],
      [() => client.auth.reauthenticate.mutate({ password: PASSWORD, code: '000000' }), 'SECOND_FACTOR_WRONG'],
      [() => client.auth.reauthenticate.mutate({ password: 'wrong password' }), 'BAD_REQUEST'],
      [() => client.uploadRecording({ recordingId: 1, uploadToken: 'wrong', file: pdf() }), 'UNAUTHORIZED'],
      [() => client.setRecordingPoster({ recordingId: 1, uploadToken: 'wrong', image: pdf() }), 'UNAUTHORIZED'],
    ];
    for (const [call, code] of refused) expect(await reasonOf(call())).toMatchObject({ code });
    expect(codes).toEqual([]);
  });

  test('is called by every procedure but those that sign in', async () => {
    const procedures = listOperations(appRouter);
    const signIns = procedures.filter(({ method, credential, takesIdempotencyKeys }) => {
      return method !== 'GET' && credential === 'none' && !takesIdempotencyKeys;
    });
    const error = { message: 'Unauthorized', code: -32_001, data: { httpStatus: 401, code: 'UNAUTHORIZED' } };
    const silent: string[] = [];
    for (const { name, method } of procedures) {
      let isReported = false;
      const onUnauthorized = () => {
        isReported = true;
      };
      const fetch = async (url: string | URL | Request) =>
        Response.json(String(url).includes('batch=1') ? [{ error }] : { error }, { status: 401 });
      const client = getUntypedClient(createClient({ url: app.url, fetch, onUnauthorized }));
      await reasonOf(method === 'GET' ? client.query(name) : client.mutation(name));
      if (!isReported) silent.push(name);
    }
    expect(silent.sort()).toEqual(signIns.map(({ name }) => name).sort());
  });
});

describe('a token that is refused', () => {
  const pdf = () => new File([Uint8Array.from(makePdf({}))], 'a.pdf', { type: 'application/pdf' });

  /** A client whose token has ended, until its function is told so. */
  async function withEndedToken(renew: (good: string) => string | undefined = (good) => good) {
    const team = await addTeam(app);
    const asked: boolean[] = [];
    const reported: string[] = [];
    let requests = 0;
    let current: string | undefined = 'lns_ended';
    const client = createClient({
      url: app.url,
      token: async ({ isRefused }) => {
        asked.push(isRefused);
        if (isRefused) current = renew(team.owner.token);
        return current;
      },
      onUnauthorized: ({ code }) => reported.push(code),
      fetch: (...request) => {
        requests += 1;
        return fetch(...request);
      },
    });
    const end = (): void => {
      current = 'lns_ended';
    };
    return { id: team.id, owner: team.owner, client, asked, reported, end, requests: () => requests };
  }

  test('is replaced once, for each kind of call, which then succeeds', async () => {
    const { id, client, owner, asked, reported, end } = await withEndedToken();
    const item = await owner.client.upload({ id, file: pdf() });
    const { room } = await owner.client.rooms.create.mutate({});
    const { recording } = await owner.client.recordings.start.mutate({ name: room.name });
    const recordingId = recording.id;
    const image = new Blob([Uint8Array.from(jpeg)]);
    const file = new Blob([Uint8Array.from(makeMp4({ durationSeconds: 5, moov: 'front' }))], { type: 'video/mp4' });
    const context = { idempotencyKey: null };
    for (const call of [
      () => client.auth.me.query(),
      () => client.labels.create.mutate({ id, name: 'Once' }),
      () => client.labels.create.mutate({ id, name: 'Without a key' }, { context }),
      () => client.paginate(client.labels.list, { id }).next(),
      () => client.upload({ id, file: pdf() }, { onProgress: () => {} }),
      () => client.uploadRecording({ recordingId, file }),
      () => client.setPoster({ id, itemId: item.id, image }),
      () => client.setRecordingPoster({ recordingId, image }),
      () => client.setLogo({ id, image }),
      () => client.importContacts({ id, csv: CSV }),
      () => client.exportContacts({ id }),
      () => client.exportPerson({ id, email: 'vera@example.com' }),
    ]) {
      end();
      asked.length = 0;
      await call();
      expect([asked, call.toString()]).toEqual([[false, true], call.toString()]);
    }
    expect(reported).toEqual([]);
    expect((await owner.client.labels.list.query({ id })).labels).toHaveLength(2);
  });

  test('is replaced once for calls in one request and in several, also if one is refused later', async () => {
    const { id, client, asked } = await withEndedToken();
    await Promise.all([
      client.auth.me.query(),
      client.labels.list.query({ id }),
      client.exportContacts({ id }),
      client.labels.create.mutate({ id, name: 'One' }),
      client.labels.create.mutate({ id, name: 'Two' }),
    ]);
    expect(asked.filter((isRefused) => isRefused)).toHaveLength(1);

    const { promise: isOpen, resolve: open } = Promise.withResolvers<void>();
    const { token } = await addPerson(app);
    const tokens = ['lns_ended', token];
    let renewals = 0;
    let requests = 0;
    const slow = createClient({
      url: app.url,
      token: ({ isRefused }) => {
        if (isRefused) renewals += 1;
        return tokens[renewals];
      },
      fetch: async (...request) => {
        requests += 1;
        const isHeld = requests === 1;
        const response = await fetch(...request);
        if (isHeld) await isOpen;
        return response;
      },
    });
    const held = slow.exportAccount();
    await slow.workspaces.list.query({});
    open();
    expect((await held).size).toBeGreaterThan(0);
    expect([renewals, requests]).toEqual([1, 4]);
  });

  test.each([
    ['another one that is refused too', () => 'lns_other', 2],
    ['the same', () => 'lns_ended', 1],
    ['none', () => undefined, 1],
  ])('and %s after it end the call with the error of the service', async (_, renew, sent) => {
    const { id, client, asked, reported, end, requests } = await withEndedToken(renew);
    const calls = [() => client.labels.create.mutate({ id, name: 'Red' }), () => client.exportContacts({ id })];
    for (const [index, call] of calls.entries()) {
      end();
      expect(await reasonOf(call())).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
      expect(asked).toEqual(
        Array(index + 1)
          .fill([false, true])
          .flat(),
      );
      expect(reported).toHaveLength(index + 1);
      expect(requests()).toBe((index + 1) * sent);
    }
  });

  test('ends the call with the error of the function, if that throws', async () => {
    const { id, client, reported } = await withEndedToken(() => {
      throw new Error('The identity provider is down');
    });
    const error = { message: 'The identity provider is down' };
    expect(await reasonOf(client.auth.me.query())).toMatchObject(error);
    expect(await reasonOf(client.exportContacts({ id }))).toMatchObject(error);
    expect(reported).toEqual([]);
  });

  test('is not replaced if the password or an upload token was wrong, or a stream cannot be sent again', async () => {
    const { id, client, owner, asked, reported } = await withEndedToken();
    const { email } = owner;
    const [file, password] = [pdf(), 'wrong password'];
    const refused = { code: 'UNAUTHORIZED' };
    expect(await reasonOf(client.auth.login.mutate({ email, password }))).toMatchObject(refused);
    const uploadToken = 'wrong';
    expect(await reasonOf(client.uploadRecording({ recordingId: 1, uploadToken, file }))).toMatchObject(refused);
    expect(reported).toEqual([]);
    const stream = { stream: file.stream(), size: file.size, type: file.type, name: file.name };
    expect(await reasonOf(client.upload({ id, file: stream }))).toMatchObject(refused);
    expect(asked).toEqual([false, false]);
    expect(reported).toEqual(['UNAUTHORIZED']);
  });
});

describe('an upload', () => {
  const bytes = Uint8Array.from(makeMp4({ durationSeconds: 5, moov: 'front' }));
  async function* inChunks() {
    for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
  }
  const stream = () => ({ stream: inChunks(), size: bytes.length, type: 'video/mp4', name: 'Übung.mp4' });

  test('reports how much of it has been sent', async () => {
    const { client, id } = await withTeam();
    const sent: number[] = [];
    const totals = new Set<number>();
    const file = new File([bytes], 'a.mp4', { type: 'video/mp4' });
    const onProgress = (progress: Progress) => {
      sent.push(progress.sent);
      totals.add(progress.total);
    };
    const item = await client.upload({ id, file, description: 'Ü' }, { onProgress });
    expect(item).toMatchObject({ name: 'a.mp4', description: 'Ü', size: bytes.length, duration: 5 });
    expect(sent).toEqual([...sent].sort((a, b) => a - b));
    expect([...totals]).toEqual([sent.at(-1)]);
  });

  test('takes a stream', async () => {
    const { client, id } = await withTeam();
    expect(await client.upload({ id, file: stream() })).toMatchObject({ name: 'Übung.mp4', size: bytes.length });
  });

  test('that is aborted rejects with the reason of the signal, closes its stream, and stores nothing', async () => {
    const { client, id } = await withTeam();
    const abort = new AbortController();
    let isClosed = false;
    async function* endless() {
      try {
        for (;;) {
          yield new Uint8Array(1_000);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      } finally {
        isClosed = true;
      }
    }
    const file = { ...stream(), stream: endless(), size: 50_000_000 };
    let calls = 0;
    const onProgress = () => {
      calls += 1;
      if (calls === 5) abort.abort(new Error('Cancelled by the user'));
    };
    const reason = await reasonOf(client.upload({ id, file }, { onProgress, signal: abort.signal }));
    expect(reason).toMatchObject({ message: 'Cancelled by the user' });
    await expect.poll(() => isClosed).toBe(true);
    expect((await client.library.list.query({ id })).total).toBe(0);
  });

  test('rejects with ConnectionError if the connection breaks', async () => {
    const client = createClient({ url: 'http://127.0.0.1:1', token: 'lns_x' });
    const reason = await reasonOf(client.upload({ id: 1, file: stream() }));
    expect(reason).toBeInstanceOf(ConnectionError);
    expect(reason).toMatchObject({ message: 'The connection to the server was lost while the file was being sent' });
    expect(isLynxroomError(reason)).toBe(false);
  });

  async function withTeam() {
    const { id, admin } = await addTeam(app);
    return { id, client: admin.client };
  }
});

test('a mutation, an upload and an import with an idempotency key can be repeated', async () => {
  const { id, owner } = await addTeam(app);
  const { client } = owner;
  const idempotencyKey = crypto.randomUUID();
  const create = () => client.labels.create.mutate({ id, name: 'Once' }, { context: { idempotencyKey } });
  // In the same tick as other calls, which are sent as a batch.
  const [first] = await Promise.all([create(), client.labels.create.mutate({ id, name: 'Other' })]);
  expect(await create()).toEqual(first);
  const key = { idempotencyKey: crypto.randomUUID() };
  const file = new File(['%PDF-1.7'], 'a.pdf', { type: 'application/pdf' });
  expect(await client.upload({ id, file }, key)).toEqual(await client.upload({ id, file }, key));
  expect((await client.library.list.query({ id })).total).toBe(1);
  expect(await reasonOf(client.upload({ id, file, name: 'Other' }, key))).toMatchObject({
    status: 422,
    code: 'IDEMPOTENCY_KEY_REUSED',
  });
  const csv = 'email\r\nvera@example.com\r\n';
  const imported = { idempotencyKey: crypto.randomUUID() };
  expect(await client.importContacts({ id, csv }, imported)).toMatchObject({ created: 1 });
  expect(await client.importContacts({ id, csv }, imported)).toMatchObject({ created: 1 });
});

test('each write has a key of its own, but not those that ignore keys or only read, nor the heartbeat', async () => {
  const keys: (string | null)[] = [];
  const unkeyed: string[] = [];
  const fetch = async (_url: unknown, init?: RequestInit) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    return new Response(null, { status: 502 });
  };
  const client = createClient({ url: app.url, fetch });
  const writes = listOperations(appRouter).filter(({ method }) => method !== 'GET');
  for (const { name } of writes) {
    await reasonOf(getUntypedClient(client).mutation(name));
    if (keys.at(-1) === null) unkeyed.push(name);
  }
  await reasonOf(client.upload({ id: 1, file: new Blob(['x']) }));
  await reasonOf(client.importContacts({ id: 1, csv: '' }));
  await reasonOf(getUntypedClient(client).mutation('labels.create', {}, { context: { idempotencyKey: null } }));
  expect(keys.at(-1)).toBeNull();
  const ignoring = writes.filter(({ takesIdempotencyKeys }) => !takesIdempotencyKeys).map(({ name }) => name);
  const others = [
    'bookings.lookUp',
    'bookings.timesToMove',
    'invitations.lookUp',
    'participants.presence',
    'workspaces.lookUpInvite',
  ];
  expect(unkeyed.sort()).toEqual([...ignoring, ...others].sort());
  const sent = keys.filter((key) => key !== null);
  expect(sent.length).toBe(writes.length - unkeyed.length + 2);
  expect(new Set(sent).size).toBe(sent.length);
});

describe('with retry.acrossCalls', () => {
  /** A client for which the answers of the service are lost until `restore` is called. */
  async function onBadLine(repeats = true) {
    const { id, owner } = await addTeam(app);
    let isLosing = true;
    const send: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (!isLosing) return response;
      await response.body?.cancel();
      throw new TypeError('fetch failed');
    };
    const client = createClient({ url: app.url, token: owner.token, fetch: send, retry: { acrossCalls: repeats } });
    const restore = (): void => {
      isLosing = false;
    };
    return { id, client, owner, restore };
  }

  test.each([true, false])('%s, a call again after lost answers repeats the lost call or not', async (repeats) => {
    const { id, client, owner, restore } = await onBadLine(repeats);
    const create = () => client.apiKeys.create.mutate({ id, name: 'Robot' });
    await reasonOf(create());
    await reasonOf(create());
    restore();
    const { apiKey } = await create();
    const { apiKeys } = await owner.client.apiKeys.list.query({ id });
    expect(apiKeys.length).toBe(repeats ? 1 : 3);
    expect(apiKeys.map((key) => key.id)).toContain(apiKey.id);
    await create();
    expect((await owner.client.apiKeys.list.query({ id })).apiKeys.length).toBe(repeats ? 2 : 4);
  });

  test('a call with another input, and one after another change, are new calls', async () => {
    const { id, client, owner, restore } = await onBadLine();
    const rename = (name: string) => client.workspaces.rename.mutate({ id, name });
    const read = async () => (await owner.client.workspaces.read.query({ id })).workspace.name;
    await reasonOf(rename('First'));
    expect(await read()).toBe('First');
    restore();
    await rename('Second');
    expect(await read()).toBe('Second');
    await rename('First');
    expect(await read()).toBe('First');
  });

  test('a call that is aborted is still the lost call, and is refused once it has been answered', async () => {
    const { id, client, owner, restore } = await onBadLine();
    const abort = new AbortController();
    const create = (signal?: AbortSignal) =>
      client.labels.create.mutate({ id, name: 'Once' }, { ...(signal && { signal }) });
    await reasonOf(create());
    const aborted = reasonOf(create(abort.signal));
    abort.abort();
    await aborted;
    restore();
    const { label } = await create();
    expect((await owner.client.labels.list.query({ id })).labels.map((one) => one.id)).toEqual([label.id]);
    expect(await reasonOf(create())).toMatchObject({ code: 'CONFLICT' });
  });
});

describe('paginate', () => {
  test('returns the entries of all pages in order, and reads a page once it is needed', async () => {
    const team = await addTeam(app);
    const names = ['Red', 'Green', 'Blue', 'White', 'Black'];
    const { client: owner } = team.owner;
    for (const name of names) await owner.labels.create.mutate({ id: team.id, name });
    let calls = 0;
    const client = createClient({
      url: app.url,
      token: team.owner.token,
      fetch: (...request) => {
        calls += 1;
        return fetch(...request);
      },
    });
    const found: string[] = [];
    for await (const { name } of client.paginate(client.labels.list, { id: team.id, limit: 2 })) {
      found.push(name);
      expect(calls).toBe(Math.ceil(found.length / 2));
    }
    expect(found).toEqual(names);
    expect(calls).toBe(3);
    const entries = client.paginate(client.labels.list, { id: team.id, limit: 2 });
    expect((await entries.next()).value?.name).toBe('Red');
    await entries.return();
    expect(calls).toBe(4);
  });

  test('ends at once with an empty list, and throws what the list throws', async () => {
    const { client, id } = await addTeam(app).then(({ owner, id }) => ({ client: owner.client, id }));
    const read = async (workspace: number) => {
      const entries: unknown[] = [];
      for await (const entry of client.paginate(client.labels.list, { id: workspace })) entries.push(entry);
      return entries;
    };
    expect(await read(id)).toEqual([]);
    expect(await reasonOf(read(999_999))).toMatchObject({ code: 'NOT_FOUND', message: 'Workspace not found' });
  });
});

describe('the operations of a workspace', () => {
  test('need no id, and cannot be given another one', async () => {
    const { id, owner, outsider } = await addTeam(app);
    const workspace = owner.client.workspace(id);
    const { label } = await workspace.labels.create.mutate({ name: 'Red' });
    expect((await workspace.labels.list.query()).labels).toMatchObject([{ id: label.id }]);
    // Not checked by the compiler: the variable has one field more.
    const other = { name: 'Green', id: 999_999 };
    await workspace.labels.create.mutate(other);
    const names: string[] = [];
    for await (const { name } of owner.client.paginate(workspace.labels.list, { limit: 1 })) names.push(name);
    expect(names).toEqual(['Red', 'Green']);
    const refused = reasonOf(outsider.client.workspace(id).labels.list.query());
    expect(await refused).toMatchObject({ status: 403 });
  });

  test('are those with the path of a workspace: no other operation calls something else id', () => {
    const withId = listOperations(appRouter).filter(({ fields }) => fields.has('id'));
    expect(withId.length).toBeGreaterThan(60);
    expect(withId.filter(({ path }) => !path.startsWith('/api/workspaces/{id}'))).toEqual([]);
  });
});

test('each list has one array, whose entries paginate returns', () => {
  // `as`: the parts of the document that are read here.
  const { paths, components } = document as unknown as {
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, Response> }>>;
    components: { schemas: Record<string, Schema> };
  };
  type Schema = { $ref?: string; type?: string; properties?: Record<string, Schema> };
  type Response = { content?: Record<string, { schema?: Schema }> };
  const resolve = (schema: Schema = {}): Schema =>
    schema.$ref === undefined ? schema : resolve(components.schemas[schema.$ref.split('/').at(-1) ?? '']);
  const lists = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses = {} }) => {
      const { properties = {} } = resolve(responses[200]?.content?.['application/json']?.schema);
      const arrays = Object.values(properties).filter((field) => resolve(field).type === 'array');
      return 'next_cursor' in properties ? [{ operationId, arrays: arrays.length }] : [];
    });
  expect(lists.length).toBeGreaterThan(20);
  // These two return an object, and a page of what belongs to it inside of it.
  const others = lists.filter(({ arrays }) => arrays !== 1).map(({ operationId }) => operationId);
  expect(others).toEqual(['workspacesRead', 'meetingsRead']);
});
