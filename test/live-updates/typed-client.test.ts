/** The subscription over tRPC, with the typed client. */
import { once } from 'node:events';
import http, { type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createClient, type LiveEvent, type LynxroomError } from '../../packages/client/src/index.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, PASSWORD, type Person, type Team } from '../support/world.ts';

let app: TestApp;
let delivery: TestDelivery;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
});
afterAll(async () => {
  await delivery.stop();
  await app.close();
});

type Subscription = { events: LiveEvent[]; ids: string[]; errors: LynxroomError[]; unsubscribe(): void };

function subscribe(id: number, { token }: Pick<Person, 'token'>, url = app.url): Subscription {
  const received = { events: [] as LiveEvent[], ids: [] as string[], errors: [] as LynxroomError[] };
  const { unsubscribe } = createClient({ url, token }).events.live.subscribe(
    { id },
    {
      onData(message) {
        received.events.push(message.data);
        received.ids.push(message.id);
      },
      // `as`: the client converts every error of the service.
      onError: (error) => received.errors.push(error as LynxroomError),
    },
  );
  return { ...received, unsubscribe };
}

const createRoom = async ({ client }: Person): Promise<string> =>
  (await client.rooms.create.mutate({ workspace_id: team.id })).room.name;

function roomsOf({ events }: Subscription): string[] {
  return events.flatMap((event) => (event.event === 'room.created' ? [event.data.room_name] : []));
}

test('a subscription gets typed events with their ids', async () => {
  const subscription = subscribe(team.id, team.member);
  await expect.poll(() => subscription.events[0]?.event).toBe('stream.opened');
  const name = await createRoom(team.owner);
  await expect.poll(() => roomsOf(subscription)).toEqual([name]);
  expect(subscription.ids.map(Number)).toEqual(subscription.ids.map(Number).toSorted((a, b) => a - b));
  subscription.unsubscribe();
  await expect.poll(() => app.services.live.use().open).toBe(0);
});

test('a client resumes by itself after the connection was cut, and repeats nothing', async () => {
  const proxy = await startTcpProxy(app.url);
  const subscription = subscribe(team.id, team.owner, proxy.url);
  await expect.poll(() => subscription.events.length).toBe(1);
  const names = [await createRoom(team.owner)];
  for (let cut = 0; cut < 3; cut += 1) {
    await expect.poll(() => roomsOf(subscription)).toEqual(names);
    proxy.resetConnections();
    names.push(await createRoom(team.owner), await createRoom(team.owner));
  }
  await expect.poll(() => roomsOf(subscription)).toEqual(names);
  expect(subscription.errors).toEqual([]);
  subscription.unsubscribe();
  await proxy.close();
});

test.each([
  ['of nobody', () => ({ token: 'x' }), 401],
  ['of an outsider', () => team.outsider, 403],
])('a subscription %s ends with the error of the service', async (_, person, status) => {
  const subscription = subscribe(team.id, person());
  await expect.poll(() => subscription.errors.map((error) => error.status)).toEqual([status]);
});

test('a subscription whose session ends, also while it is read, continues with another token', async () => {
  const tokens = ['lns_ended', await signIn(team.member), await signIn(team.member)];
  const [, first, second] = tokens.map((token) => createClient({ url: app.url, token }));
  const onUnauthorized = vi.fn();
  let isRepeated = false;
  const client = createClient({
    url: app.url,
    token: async ({ isRefused }) => {
      if (isRefused) tokens.shift();
      return tokens[0];
    },
    onUnauthorized,
  });
  const names: string[] = [];
  const ids: string[] = [];
  const onError = vi.fn();
  let opened = 0;
  const { unsubscribe } = client.events.live.subscribe(
    { id: team.id },
    {
      onData({ id, data }) {
        if (data.event === 'stream.opened') opened += 1;
        if (data.event === 'room.created') names.push(data.data.room_name);
        if (ids.includes(id)) isRepeated = true;
        ids.push(id);
      },
      onError,
    },
  );
  await expect.poll(() => opened).toBe(1);
  const created = [await createRoom(team.owner)];
  await expect.poll(() => names).toEqual(created);
  await first?.auth.logout.mutate();
  created.push(await createRoom(team.owner));
  await expect.poll(() => names).toEqual(created);
  expect(isRepeated).toBe(false);
  expect([onError.mock.calls, onUnauthorized.mock.calls]).toEqual([[], []]);
  await second?.auth.logout.mutate();
  await expect.poll(() => onError.mock.calls[0]?.[0].code).toBe('UNAUTHORIZED');
  expect(onUnauthorized).toHaveBeenCalledOnce();
  unsubscribe();
});

async function signIn({ email }: Person): Promise<string> {
  return (await createClient({ url: app.url }).auth.login.mutate({ email, password: PASSWORD })).token;
}

test('an unknown workspace is a 404, and an invalid id a 400', async () => {
  const unknown = subscribe(999_999, team.owner);
  await expect.poll(() => unknown.errors.map(({ code }) => code)).toEqual(['NOT_FOUND']);
  const onError = vi.fn();
  team.owner.client.events.live.subscribe({ id: team.id, lastEventId: 'x' }, { onError });
  await expect.poll(() => onError.mock.calls[0]?.[0].issues?.[0]?.path).toBe('lastEventId');
});

/** A proxy that answers the first requests itself, and passes on the others. */
async function startRefusingProxy(refusals: { status: number; headers?: OutgoingHttpHeaders; body?: object }[]) {
  const arrivals: number[] = [];
  const server = http.createServer((request, response) => {
    const refusal = refusals[arrivals.length];
    arrivals.push(performance.now());
    if (refusal) {
      response.writeHead(refusal.status, refusal.headers).end(refusal.body && JSON.stringify(refusal.body));
      return;
    }
    const { method, headers } = request;
    const passedOn = http
      .get(`${app.url}${request.url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      })
      .on('error', () => response.destroy());
    response.on('close', () => passedOn.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: the address of a TCP server is not a string.
  const { port } = server.address() as AddressInfo;
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${port}`, arrivals, close };
}

test.each([
  [403, undefined, 'UNKNOWN', 'The request failed with status 403'],
  [401, { message: 'Unauthorized', code: 'UNAUTHORIZED' }, 'UNAUTHORIZED', 'Unauthorized'],
  [404, { message: 'No such page' }, 'UNKNOWN', 'No such page'],
])('a subscription that a proxy refuses with %i ends, and says why', async (status, body, code, message) => {
  const refusals = [1, 2].map(() => ({ status, ...(body && { body }) }));
  const proxy = await startRefusingProxy(refusals);
  const subscription = subscribe(team.id, team.owner, proxy.url);
  await expect.poll(() => subscription.errors).toMatchObject([{ status, code, message }]);
  expect(proxy.arrivals).toHaveLength(1);
  proxy.close();
});

test('a subscription connects again after refusals that may pass, no sooner than they ask for', async () => {
  const proxy = await startRefusingProxy([{ status: 502 }, { status: 429, headers: { 'retry-after': '2' } }]);
  const subscription = subscribe(team.id, team.owner, proxy.url);
  await expect.poll(() => subscription.events[0]?.event, { timeout: 20_000 }).toBe('stream.opened');
  const [, limited = 0, passed = 0, ...others] = proxy.arrivals;
  expect(passed - limited).toBeGreaterThan(2_000);
  expect(others).toEqual([]);
  expect(subscription.errors).toEqual([]);
  subscription.unsubscribe();
  proxy.close();
  await expect.poll(() => app.services.live.use().open).toBe(0);
});

test('a subscription is a GET of its own', async () => {
  const input = JSON.stringify({ 0: { id: team.id }, 1: { id: team.id } });
  const path = `/trpc/events.live,events.live?batch=1&input=${encodeURIComponent(input)}`;
  const batch = await app.http.get(path, team.owner.token);
  expect(batch.body[0].error.message).toBe('A subscription cannot be part of a batch');
  const { status, headers } = await app.http.post('/trpc/events.live', team.owner.token, { id: team.id });
  expect([status, headers.get('allow')]).toEqual([405, 'GET']);
  expect(app.services.live.use().open).toBe(0);
});
