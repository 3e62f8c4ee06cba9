/** The options of the typed client that change what it sends: `headers`, `links` and `retry`. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type ClientOptions,
  ConnectionError,
  createClient,
  isLynxroomError,
  type TokenSource,
} from '../../packages/client/src/index.ts';

type Sent = { url: string; headers: Headers };

/** A client of a service that gives these answers in turn, and the last one from then on. */
function withAnswers(answers: readonly (() => Response | Promise<Response>)[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const fetch = async (input: unknown, init: RequestInit = {}) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    sent.push({ url: String(input), headers: new Headers(init.headers) });
    if (answer === undefined) throw new Error('No answer');
    return answer();
  };
  return { client: createClient({ url: 'http://127.0.0.1:1', fetch, ...options }), sent };
}

const query = () => Response.json([{ result: { data: { labels: [] } } }]);
const mutation = () => Response.json({ result: { data: { label: { id: 7 } } } });
const status = (code: number, headers = {}) => new Response('<h1>No answer</h1>', { status: code, headers });
const reset = () => Promise.reject(new TypeError('fetch failed'));

function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
}

/** Resolves once so many timers run. It lets no time pass, as `vi.waitFor` does. */
async function untilTimers(count: number): Promise<void> {
  while (vi.getTimerCount() !== count) await new Promise(setImmediate);
}

test('headers are sent with every kind of call, and do not replace those of the client', async () => {
  const answers = [query, mutation, () => Response.json({ item: {} }), () => new Response('email')];
  const given = [{ 'X-Trace': 'a', Authorization: 'Basic b' }, async () => ({ 'X-Trace': 'a', Authorization: 'c' })];
  for (const headers of given) {
    const { client, sent } = withAnswers(answers, { token: 'lns_x', headers });
    await client.labels.list.query({ id: 1 });
    await client.labels.create.mutate({ id: 1, name: 'Red' });
    await client.upload({ id: 1, file: new Blob(['x']) });
    await client.exportContacts({ id: 1 });
    const live = client.events.live.subscribe({ id: 1 }, { onData() {} });
    await expect.poll(() => sent.length).toBe(5);
    live.unsubscribe();
    for (const { headers: found } of sent)
      expect([found.get('x-trace'), found.get('authorization')]).toEqual(['a', 'Bearer lns_x']);
  }
});

test('a call is never repeated with the token of another call', async () => {
  // As on a server, where the function returns the token of the person whose request is handled.
  let current = 'a';
  const sent: (string | null)[] = [];
  const fetch = async (_input: unknown, { headers }: RequestInit = {}) => {
    const token = new Headers(headers).get('authorization');
    sent.push(token);
    if (token !== 'Bearer a') return mutation();
    current = 'b';
    await client.labels.create.mutate({ id: 1, name: 'Of B' });
    current = 'a';
    return Response.json(
      { error: { message: 'Unauthorized', code: -32001, data: { httpStatus: 401, code: 'UNAUTHORIZED' } } },
      { status: 401 },
    );
  };
  const client = createClient({ url: 'http://127.0.0.1:1', fetch, token: () => current });
  expect(isLynxroomError(await reasonOf(client.labels.create.mutate({ id: 1, name: 'Of A' })))).toBe(true);
  expect(sent).toEqual(['Bearer a', 'Bearer b']);
});

test('a call without a token gets a token of its own', async () => {
  // As on a server, where two people call at the same time and sessions are looked up slowly.
  const sent: (string | null)[] = [];
  const fetch = async (_input: unknown, { headers }: RequestInit = {}) => {
    const token = new Headers(headers).get('authorization');
    sent.push(token);
    return token === null ? Response.json({ code: 'UNAUTHORIZED' }, { status: 401 }) : new Response('email');
  };
  const person = new AsyncLocalStorage<string>();
  const token: TokenSource = async ({ isRefused }) => (isRefused ? person.getStore() : undefined);
  const client = createClient({ url: 'http://127.0.0.1:1', fetch, token });
  await Promise.all(['a', 'b'].map((name) => person.run(name, () => reasonOf(client.exportContacts({ id: 1 })))));
  expect(sent.toSorted()).toEqual(['Bearer a', 'Bearer b', null, null]);
});

test('calls that are sent again with tokens of different people are not sent together', async () => {
  const person = new AsyncLocalStorage<string>();
  const sent: [string | null, number][] = [];
  const fetch = async (input: unknown, { headers }: RequestInit = {}) => {
    const token = new Headers(headers).get('authorization');
    const calls = new URL(String(input)).pathname.split(',').length;
    sent.push([token, calls]);
    const refusal = { error: { message: 'No', code: -32001, data: { httpStatus: 401, code: 'UNAUTHORIZED' } } };
    const answer = token === null ? refusal : { result: { data: { labels: [token] } } };
    const isBatch = new URL(String(input)).searchParams.has('batch');
    return Response.json(isBatch ? Array(calls).fill(answer) : answer, { status: token === null ? 401 : 200 });
  };
  const token: TokenSource = async ({ isRefused }) => (isRefused ? person.getStore() : undefined);
  const client = createClient({ url: 'http://127.0.0.1:1', fetch, token });
  const read = (name: string) => person.run(name, () => client.labels.list.query({ id: 1 }));
  expect(await Promise.all(['a', 'b'].map(read))).toEqual([{ labels: ['Bearer a'] }, { labels: ['Bearer b'] }]);
  expect(sent.slice(1).toSorted()).toEqual([
    ['Bearer a', 1],
    ['Bearer b', 1],
  ]);
});

describe('an answer that cannot be read', () => {
  const cutOff = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) }));
  const file = new Blob(['x']);
  const calls: [string, (client: ReturnType<typeof createClient>) => Promise<unknown>][] = [
    ['upload', (client) => client.upload({ id: 1, file })],
    ['uploadRecording', (client) => client.uploadRecording({ recordingId: 1, file })],
    ['setPoster', (client) => client.setPoster({ id: 1, itemId: 1, image: file })],
    ['setRecordingPoster', (client) => client.setRecordingPoster({ recordingId: 1, image: file })],
    ['importContacts', (client) => client.importContacts({ id: 1, csv: 'email' })],
    ['exportContacts', (client) => client.exportContacts({ id: 1 })],
  ];

  test.each(calls)('is a lost connection for %s', async (name, call) => {
    const reason = await reasonOf(call(withAnswers([cutOff]).client));
    expect(reason).toBeInstanceOf(ConnectionError);
    expect(reason).toMatchObject({ message: 'The connection to the server was lost within its answer' });
    if (name === 'exportContacts') return;
    for (const answer of ['<h1>Hello</h1>', 'null', ''])
      expect(await reasonOf(call(withAnswers([() => new Response(answer)]).client))).toBeInstanceOf(ConnectionError);
  });

  test.each(calls)('of an error is the error with its status for %s', async (_name, call) => {
    const broken = () => new Response(cutOff().body, { status: 502 });
    for (const answer of [broken, () => status(502)])
      expect(await reasonOf(call(withAnswers([answer]).client))).toMatchObject({ name: 'LynxroomError', status: 502 });
  });
});

test('a call rejects with what the function of the headers throws', async () => {
  const failure = new Error('No trace');
  const { client, sent } = withAnswers([query], { headers: () => Promise.reject(failure) });
  expect(await reasonOf(client.labels.list.query({ id: 1 }))).toMatchObject({ cause: failure });
  expect(await reasonOf(client.exportContacts({ id: 1 }))).toBe(failure);
  expect(sent).toEqual([]);
});

test('a link sees each procedure once, with its key and its error', async () => {
  const seen: unknown[] = [];
  const refusal = { message: 'Taken', code: -32009, data: { httpStatus: 409, code: 'CONFLICT' } };
  const { client, sent } = withAnswers([() => status(503), () => Response.json({ error: refusal }, { status: 409 })], {
    retry: { times: 1 },
    links: [
      () =>
        ({ op, next }) => {
          seen.push([op.path, typeof op.context.idempotencyKey]);
          return next(op);
        },
    ],
  });
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  const reason = reasonOf(client.labels.create.mutate({ id: 1, name: 'Red' }));
  await untilTimers(1);
  await vi.runAllTimersAsync();
  expect(isLynxroomError(await reason)).toBe(true);
  vi.useRealTimers();
  expect([seen, sent.length]).toEqual([[['labels.create', 'string']], 2]);
});

describe('retry', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** Lets the call wait as often as it wants to. Resolves with what it resolved or rejected with. */
  async function finish(call: Promise<unknown>): Promise<unknown> {
    let isDone = false;
    const result = call
      .catch((error: unknown) => error)
      .finally(() => {
        isDone = true;
      });
    while (!isDone) {
      await vi.advanceTimersByTimeAsync(60_000);
      await new Promise(setImmediate);
    }
    return result;
  }

  const inUse = () =>
    Response.json({ error: { data: { code: 'IDEMPOTENCY_KEY_IN_USE', httpStatus: 409 } } }, { status: 409 });
  const brokenBody = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) }));
  const losses: [string, () => Response | Promise<Response>][] = [
    ['a connection that fails', reset],
    ['a connection that breaks within the answer', brokenBody],
    ['a time-out of fetch', () => Promise.reject(new DOMException('Too slow', 'TimeoutError'))],
    ...[408, 429, 502, 503, 504].map((code): (typeof losses)[number] => [String(code), () => status(code)]),
    ['a key in use', inUse],
  ];

  test.each(losses)('repeats a mutation with its key, a query and an upload after %s', async (_what, loss) => {
    const { client, sent } = withAnswers([loss, loss, mutation], { retry: { times: 2 } });
    expect(await finish(client.labels.create.mutate({ id: 1, name: 'Red' }))).toEqual({ label: { id: 7 } });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    expect([keys.length, new Set(keys).size, keys.includes(null)]).toEqual([3, 1, false]);

    const reading = withAnswers([loss, query], { retry: { times: 1 } });
    expect(await finish(reading.client.labels.list.query({ id: 1 }))).toEqual({ labels: [] });

    const file = withAnswers([loss, () => Response.json({ item: { id: 7 } })], { retry: { times: 1 } });
    expect(await finish(file.client.upload({ id: 1, file: new Blob(['x']) }))).toEqual({ id: 7 });
    const [first, second] = file.sent.map(({ headers }) => headers.get('idempotency-key'));
    expect([first === second, typeof first]).toEqual([true, 'string']);
  });

  test('ends after `times`, and rejects as without it', async () => {
    const { client, sent } = withAnswers([() => status(503)], { retry: { times: 3 } });
    expect(await finish(client.exportContacts({ id: 1 }))).toMatchObject({ name: 'LynxroomError', status: 503 });
    expect(sent.length).toBe(4);
  });

  test('does not repeat a write without a key, a stream, or an answer of another kind', async () => {
    const cases: [(client: ReturnType<typeof createClient>) => Promise<unknown>, () => Response][] = [
      [(client) => client.auth.login.mutate({ email: 'a@example.com', password: 'b' }), () => status(503)],
      [
        (client) => client.labels.create.mutate({ id: 1, name: 'Red' }, { context: { idempotencyKey: null } }),
        () => status(503),
      ],
      [
        (client) =>
          client.upload({ id: 1, file: { stream: new Blob(['x']).stream(), size: 1, type: 'video/mp4', name: 'a' } }),
        () => status(503),
      ],
      ...[400, 403, 404, 409, 500].map((code): (typeof cases)[number] => [
        (client) => client.exportContacts({ id: 1 }),
        () => status(code),
      ]),
      [(client) => client.exportContacts({ id: 1 }), () => status(503, { 'retry-after': '61' })],
    ];
    for (const [call, answer] of cases) {
      const { client, sent } = withAnswers([answer], { retry: { times: 2 } });
      expect(await finish(call(client))).toBeInstanceOf(Error);
      expect(sent.length).toBe(1);
    }
  });

  test.each([
    ['seconds', () => '30'],
    ['a time', () => new Date(Date.now() + 31_000).toUTCString()],
  ])('waits as long as Retry-After says in %s', async (_what, after) => {
    const { client, sent } = withAnswers([() => status(503, { 'retry-after': after() }), () => new Response('email')], {
      retry: { times: 1 },
    });
    const call = client.exportContacts({ id: 1 });
    await untilTimers(1);
    await vi.advanceTimersByTimeAsync(28_000);
    expect(sent.length).toBe(1);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await (await call).text()).toBe('email');
  });

  test('ends when the call is aborted', async () => {
    const { client, sent } = withAnswers([reset], { retry: { times: 5 } });
    for (const start of [
      (signal: AbortSignal) => client.labels.create.mutate({ id: 1, name: 'Red' }, { signal }),
      (signal: AbortSignal) => client.exportContacts({ id: 1 }, { signal }),
    ]) {
      const before = sent.length;
      const abort = new AbortController();
      const reason = reasonOf(start(abort.signal));
      await untilTimers(1);
      abort.abort('enough');
      expect(await reason).toBe('enough');
      await untilTimers(0);
      expect(sent.length).toBe(before + 1);
    }
  });
});
