/** Registering webhooks: who may, what they look like, and that a secret is shown once and kept sealed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transports } from '../contract/transports.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
let other: Team;
let webhooks: string;
beforeAll(async () => {
  app = await startTestApp();
  [team, other] = await Promise.all([addTeam(app), addTeam(app, 'Other')]);
  webhooks = `${team.path}/webhooks`;
});
afterAll(() => app.close());

const LISTED = [
  'created_at',
  'created_by',
  'disabled_reason',
  'events',
  'failure_count',
  'id',
  'is_active',
  'last_delivery_at',
  'name',
  'previous_secret_expires_at',
  'updated_at',
  'url',
  'workspace_id',
];

const VALID = { name: 'Chat', url: 'https://hooks.example.com/lynx?x=1', events: ['room.created', 'member.joined'] };

const ALL_EVENTS = [
  'room.created',
  'room.joined',
  'room.left',
  'recording.started',
  'recording.completed',
  'member.joined',
  'member.left',
  'library_item.uploaded',
  'library_item.deleted',
];

function fields(value: object): string[] {
  return Object.keys(value).sort();
}

function create(json: unknown, of = team) {
  return app.http.post(`${of.path}/webhooks`, of.admin.token, json);
}

type Hook = { id: number; secret: string } & Record<string, unknown>;

async function newHook(more: object = {}, of = team): Promise<Hook> {
  const { status, body } = await create({ ...VALID, ...more }, of);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.webhook;
}

function rowOf(id: number) {
  return app.services.db.webhook.findFirstOrThrow({ where: { id } });
}

describe('creating a webhook', () => {
  test('answers exactly its fields, its events as a JSON array in text, and its secret', async () => {
    const { status, body } = await create({ ...VALID, name: ' Chat\t', url: ` ${VALID.url} ` });
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['webhook']);
    expect(fields(body.webhook)).toEqual([...LISTED, 'secret'].sort());
    expect(body.webhook).toMatchObject({
      workspace_id: team.id,
      name: 'Chat',
      url: VALID.url,
      events: '["room.created","member.joined"]',
      is_active: 1,
      created_by: team.admin.id,
      last_delivery_at: null,
      failure_count: 0,
      disabled_reason: null,
      previous_secret_expires_at: null,
    });
    expect(Math.abs(body.webhook.created_at - Date.now() / 1000)).toBeLessThan(30);
    expect(body.webhook.updated_at).toBe(body.webhook.created_at);
  });

  test('makes a secret of whsec_ and the base64 of 24 bytes, another one each time', async () => {
    const made = await concurrently(20, () => newHook());
    for (const { secret } of made) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
      expect(Buffer.from(secret.slice(6), 'base64').length).toBe(24);
    }
    expect(new Set(made.map(({ secret }) => secret)).size).toBe(20);
  });

  test('keeps the secret sealed: it opens for this workspace, and stands nowhere in the database', async () => {
    const { id, secret } = await newHook();
    const { sealedSecret } = await rowOf(id);
    const context = { workspaceId: team.id, purpose: 'webhook secret' } as const;
    expect(app.services.sealer.open(sealedSecret, context)).toBe(secret);
    expect(() => app.services.sealer.open(sealedSecret, { ...context, workspaceId: other.id })).toThrow();
    const raw = Buffer.from(secret.slice(6), 'base64');
    const stored = Buffer.from(sealedSecret);
    for (const part of [secret, secret.slice(6), raw, raw.toString('hex')]) expect(stored.includes(part)).toBe(false);
    const dump = JSON.stringify(await dumpTables(app));
    for (const part of [secret.slice(6), raw.toString('hex'), Buffer.from(secret).toString('hex')])
      expect(dump).not.toContain(part);
  });

  test('takes nothing that is not its to give', async () => {
    const given = { id: 1, workspace_id: other.id, created_by: other.owner.id, is_active: 0, failure_count: 9 };
    const hook = await newHook({ ...given, secret: 'whsec_mine', disabled_reason: 'x', toggle: true });
    expect(hook).toMatchObject({ workspace_id: team.id, created_by: team.admin.id, is_active: 1, failure_count: 0 });
    expect(hook.disabled_reason).toBeNull();
    expect(hook.secret).not.toBe('whsec_mine');
  });
});

const URL_FORM = 'url must be a URL that begins with http:// or https:// and names a host';
const URL_USER = 'url must not contain a user or a password';
const UNPRINTABLE = 'must not contain control characters or invalid Unicode';
const EVENT = `events.0 must be one of ${ALL_EVENTS.join(', ')}`;

const wrong: [string, object, string, string][] = [
  ['no name', { name: undefined }, 'name', 'Name is required'],
  ['name null', { name: null }, 'name', 'Name is required'],
  ['an empty name', { name: '' }, 'name', 'Name is required'],
  ['a blank name', { name: ' \u3000' }, 'name', 'Name is required'],
  ['a name that is a number', { name: 5 }, 'name', 'name must be a string'],
  ['a name of 101 characters', { name: 'n'.repeat(101) }, 'name', 'name must have at most 100 characters'],
  ['a name with a NUL', { name: 'a\u0000' }, 'name', `name ${UNPRINTABLE}`],
  ['no url', { url: undefined }, 'url', 'url is required'],
  ['url null', { url: null }, 'url', 'url is required'],
  ['an empty url', { url: '' }, 'url', 'url is required'],
  ['a url that is a number', { url: 5 }, 'url', 'url must be a string'],
  ['a url that is a list', { url: [VALID.url] }, 'url', 'url must be a string'],
  [
    'a url of 2049 characters',
    { url: `https://a/${'b'.repeat(2_039)}` },
    'url',
    'url must have at most 2048 characters',
  ],
  ...[
    'example.com/hook',
    '//example.com/hook',
    '/hook',
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'javascript:alert(1)',
    'data:text/plain,x',
    'ws://example.com/',
    'http:example.com',
    'http:/example.com',
    'http:///example.com',
    'http:\\\\example.com',
    'http://',
    'https://?x',
    'https://#x',
    'https://:443/',
    'https://exa mple.com/',
    'https://example.com:65536/',
    'https://example.com:port/',
    'https://[::1/',
    'https://1.2.3.4.5/',
    'https://256.256.256.256/',
    'https://a%00b/',
    'hhttp://example.com/',
    'xhttps://example.com/',
  ].map((url): [string, object, string, string] => [`the url ${url}`, { url }, 'url', URL_FORM]),
  ...[
    'https://user:password@example.com/',
    'https://user@example.com/',
    'https://:password@example.com/',
    'https://@example.com/',
    'https://:@example.com/',
    'https://example.com@evil.example/',
    'https://user%40x:y@example.com',
  ].map((url): [string, object, string, string] => [`the url ${url}`, { url }, 'url', URL_USER]),
  ['a url with a line feed', { url: 'https://example.com/\nHost: x' }, 'url', `url ${UNPRINTABLE}`],
  ['a url with a tab in its scheme', { url: 'ht\ttps://example.com/' }, 'url', `url ${UNPRINTABLE}`],
  ['no events', { events: undefined }, 'events', 'events is required'],
  ['events null', { events: null }, 'events', 'events is required'],
  ['no event in events', { events: [] }, 'events', 'events must name at least one event'],
  ['events that are text', { events: 'room.created' }, 'events', 'events must be an array'],
  ['events that are JSON in text', { events: '["room.created"]' }, 'events', 'events must be an array'],
  ['events that are an object', { events: { 0: 'room.created' } }, 'events', 'events must be an array'],
  ['an unknown event', { events: ['room.deleted'] }, 'events.0', EVENT],
  ['an event in capitals', { events: ['Room.created'] }, 'events.0', EVENT],
  ['the event *', { events: ['*'] }, 'events.0', EVENT],
  ['the event __proto__', { events: ['__proto__'] }, 'events.0', EVENT],
  ['an event that is a number', { events: [1] }, 'events.0', EVENT],
  ['an event that is null', { events: [null] }, 'events.0', EVENT],
  ['an event in a list', { events: [['room.created']] }, 'events.0', EVENT],
];

test.each(wrong)('creating with %s is refused, and leaves nothing', async (_, part, path, message) => {
  const before = await app.services.db.webhook.count();
  const { status, body } = await create({ ...VALID, ...part });
  expect(status).toBe(400);
  expect(body).toMatchObject({ error: message, message, code: 'BAD_REQUEST' });
  expect(body.issues).toContainEqual({ path, message });
  expect(await app.services.db.webhook.count()).toBe(before);
});

test('creating without a body names all three', async () => {
  const { status, body } = await create(undefined);
  expect(status).toBe(400);
  expect(body.issues).toEqual([
    { path: 'name', message: 'Name is required' },
    { path: 'url', message: 'url is required' },
    { path: 'events', message: 'events is required' },
  ]);
});

test('a body full of wrong events is refused by its length, in few words', async () => {
  const { status, body } = await create({ ...VALID, events: Array.from({ length: 200_000 }, () => 0) });
  expect(status).toBe(400);
  expect(body.issues).toEqual([{ path: 'events', message: 'events must have at most 100 entries' }]);
});

test.each([
  'http://example.com',
  'HTTPS://EXAMPLE.COM/Path?q=a@b#c@d',
  'https://example.com:8443/hook',
  'https://example.com./',
  'https://b\u00fccher.example/',
  'https://93.184.216.34/',
  'https://[2606:2800:220:1::1]:8443/x',
  'https://example.com/@user',
  'https://example.com?x=user:pw@host',
  `https://example.com/${'b'.repeat(2_028)}`,
])('the url %.60s is kept as it is', async (url) => {
  expect((await newHook({ url })).url).toBe(url);
});

test('every event can be subscribed to, in the order sent; repetitions are dropped', async () => {
  const reversed = [...ALL_EVENTS].reverse();
  const hook = await newHook({ events: [...reversed, ...ALL_EVENTS] });
  expect(JSON.parse(String(hook.events))).toEqual(reversed);
  expect((await newHook({ events: ['room.left', 'room.left'] })).events).toBe('["room.left"]');
});

describe('changing a webhook', () => {
  const patch = (id: number, json?: unknown) => app.http.patch(`${webhooks}/${id}`, team.admin.token, json);

  test('changes only what is sent, and says when', async () => {
    const { secret: _, ...hook } = await newHook();
    app.clock.advance(5_000);
    const named = await patch(hook.id, { name: ' Renamed ' });
    expect(named.status).toBe(200);
    expect(fields(named.body)).toEqual(['webhook']);
    const { updated_at } = named.body.webhook;
    expect(updated_at).toBeGreaterThanOrEqual(Number(hook.updated_at) + 5);
    expect(named.body.webhook).toEqual({ ...hook, name: 'Renamed', updated_at });
    const all = await patch(hook.id, { url: 'http://example.org', events: ['room.left', 'room.left'], toggle: true });
    expect(all.body.webhook).toMatchObject({
      name: 'Renamed',
      url: 'http://example.org',
      events: '["room.left"]',
      is_active: 0,
      created_at: hook.created_at,
    });
  });

  test.each([
    [undefined],
    [{}],
    [{ toggle: false }],
    [{ is_active: 1 }],
    [{ is_active: true }],
    [{ secret: 'whsec_x', failure_count: 9, id: 1, workspace_id: 1 }],
  ])('with %j nothing changes, not even updated_at', async (json) => {
    const { secret, ...hook } = await newHook();
    const before = await rowOf(hook.id);
    app.clock.advance(5_000);
    expect(await patch(hook.id, json)).toMatchObject({ status: 200, body: { webhook: hook } });
    expect(await rowOf(hook.id)).toEqual(before);
  });

  test('toggle true deactivates what is active and activates what is not', async () => {
    const { id } = await newHook();
    for (const is_active of [0, 1, 0])
      expect((await patch(id, { toggle: true })).body.webhook).toMatchObject({ is_active });
  });

  test('is_active sets, whatever was, and setting what is changes nothing', async () => {
    const { id } = await newHook();
    for (const [is_active, becomes] of [
      [0, 0],
      [false, 0],
      [1, 1],
      [true, 1],
      [false, 0],
    ] as const) {
      const before = await rowOf(id);
      app.clock.advance(5_000);
      const { status, body } = await patch(id, { is_active });
      expect([status, body.webhook.is_active]).toEqual([200, becomes]);
      if (before.isActive === Boolean(becomes)) expect(await rowOf(id)).toEqual(before);
    }
    const answers = await concurrently(20, () => patch(id, { is_active: 1 }));
    expect(countStatuses(answers)).toEqual({ 200: 20 });
    expect((await rowOf(id)).isActive).toBe(true);
  });

  test.each([{ failureCount: 7 }, { failureCount: 0 }])('is_active 1 activates as toggle does: %j', async (failed) => {
    const { id } = await newHook();
    const reason = { disabledReason: 'The receiver responded with 410 Gone', failingSince: new Date(), isSlow: true };
    await app.services.db.webhook.updateMany({ where: { id }, data: { ...failed, ...reason, isActive: false } });
    expect((await patch(id, { is_active: 1 })).body.webhook).toMatchObject({ is_active: 1, failure_count: 0 });
    expect(await rowOf(id)).toMatchObject({ disabledReason: null, failingSince: null, isSlow: false });
    await app.services.db.webhook.updateMany({ where: { id }, data: failed });
    expect((await patch(id, { is_active: 1 })).body.webhook.failure_count).toBe(failed.failureCount);
  });

  test.each([true, false])('toggle %s beside is_active is refused, and changes nothing', async (flag) => {
    const { id } = await newHook();
    const before = await rowOf(id);
    const message = 'Send either toggle or is_active';
    expect(await patch(id, { toggle: flag, is_active: 0, name: 'Other' })).toMatchObject({
      status: 400,
      body: { message, issues: [{ path: 'is_active', message }] },
    });
    expect(await rowOf(id)).toEqual(before);
  });

  test('activating forgets failures and the reason; nothing else does', async () => {
    const { id } = await newHook();
    const since = new Date('2026-01-01T00:00:00Z');
    const failed = {
      failureCount: 7,
      disabledReason: 'Every attempt failed for 5 days',
      failingSince: since,
      isSlow: true,
    };
    const kept = { failure_count: 7, disabled_reason: failed.disabledReason };
    await app.services.db.webhook.updateMany({ where: { id }, data: { ...failed, isActive: false } });
    expect((await patch(id, { name: 'Other', toggle: false })).body.webhook).toMatchObject({ ...kept, is_active: 0 });
    expect(await rowOf(id)).toMatchObject({ failingSince: since, isSlow: true });
    const active = await patch(id, { toggle: true });
    expect(active.body.webhook).toMatchObject({ is_active: 1, failure_count: 0, disabled_reason: null });
    expect(await rowOf(id)).toMatchObject({ failingSince: null, isSlow: false });
    await app.services.db.webhook.updateMany({ where: { id }, data: { failureCount: 7 } });
    expect((await patch(id, { toggle: true })).body.webhook).toMatchObject({ is_active: 0, failure_count: 7 });
  });

  test.each([
    ...wrong.filter(([, part]) => !Object.values(part).includes(undefined)),
    ['toggle 1', { toggle: 1 }, 'toggle', 'toggle must be a boolean'],
    ['toggle "true"', { toggle: 'true' }, 'toggle', 'toggle must be a boolean'],
    ['toggle null', { toggle: null }, 'toggle', 'toggle must be a boolean'],
    ['is_active 2', { is_active: 2 }, 'is_active', 'is_active must be one of 0, 1, false, true'],
    ['is_active null', { is_active: null }, 'is_active', 'is_active must be one of 0, 1, false, true'],
  ] as typeof wrong)('with %s is refused, and changes nothing', async (_, part, path, message) => {
    const { id } = await newHook();
    const before = await rowOf(id);
    const { status, body } = await patch(id, { toggle: true, name: 'Other', ...part });
    expect(status).toBe(400);
    expect(body.message).toBe(message);
    expect(body.issues).toContainEqual({ path, message });
    expect(await rowOf(id)).toEqual(before);
  });

  test('toggled 50 times at once ends as it began: no flip is lost', async () => {
    const { id } = await newHook();
    const answers = await concurrently(50, () => patch(id, { toggle: true }));
    expect(countStatuses(answers)).toEqual({ 200: 50 });
    expect(answers.filter(({ body }) => body.webhook.is_active === 1).length).toBe(25);
    expect((await rowOf(id)).isActive).toBe(true);
  });

  test('while it is deleted, breaks nothing', async () => {
    await concurrently(10, async () => {
      const { id } = await newHook();
      const [changed, deleted] = await Promise.all([
        patch(id, { toggle: true, name: 'Other' }),
        app.http.delete(`${webhooks}/${id}`, team.owner.token),
      ]);
      expect([200, 404]).toContain(changed.status);
      expect(deleted.status).toBe(200);
    });
  });
});

test('deleting answers {ok: true}, once', async () => {
  const { id } = await newHook();
  const answers = await concurrently(10, () => app.http.delete(`${webhooks}/${id}`, team.owner.token));
  expect(countStatuses(answers)).toEqual({ 200: 1, 404: 9 });
  expect(answers.find(({ status }) => status === 200)?.body).toEqual({ ok: true });
  expect(await app.services.db.webhook.count({ where: { id } })).toBe(0);
});

test('the list has every webhook of the workspace, oldest first, with exactly its fields', async () => {
  const held = await startTestApp({ frozenAt: new Date('2026-03-01T00:00:00Z') });
  try {
    const { path, owner } = await addTeam(held);
    for (const name of ['B', 'A', 'C']) await held.http.post(`${path}/webhooks`, owner.token, { ...VALID, name });
    held.clock.advance(-60_000);
    await held.http.post(`${path}/webhooks`, owner.token, { ...VALID, name: 'Earlier' });
    const { status, body } = await held.http.get(`${path}/webhooks`, owner.token);
    expect(status).toBe(200);
    expect(fields(body)).toEqual(['webhooks']);
    expect(body.webhooks.map(({ name }: { name: string }) => name)).toEqual(['Earlier', 'B', 'A', 'C']);
    for (const webhook of body.webhooks) expect(fields(webhook)).toEqual(LISTED);
  } finally {
    await held.close();
  }
});

test('any member reads the seven events, in their order', async () => {
  for (const { token } of [team.owner, team.admin, team.member]) {
    const { status, body } = await app.http.get(`${webhooks}/events`, token);
    expect(status).toBe(200);
    expect(body).toEqual({
      events: [
        'room.created',
        'room.joined',
        'room.left',
        'recording.started',
        'recording.completed',
        'member.joined',
        'member.left',
      ],
    });
  }
});

/** What is done with one webhook. */
const OF_ONE = [
  'update',
  'delete',
  'rotateSecret',
  'test',
  'deliveries',
  'resend',
  'resendFailed',
  'messages',
  'message',
  'resendMessage',
] as const;
const OPERATIONS = ['list', 'events', 'catalogue', 'create', ...OF_ONE] as const;

describe.each(transports)('through %s', (_, transport) => {
  const call = async (name: string, token: string | undefined, input: Record<string, unknown>) => {
    const { status, body } = await transport(app, { name, token, input });
    const { message } = body as { message?: unknown };
    // Some answers carry a message of another kind.
    return [status, status === 200 ? undefined : message];
  };

  test('each operation is for its roles only', async () => {
    const admins = ['owner', 'admin'];
    const may = {
      list: admins,
      events: [...admins, 'member'],
      create: admins,
      update: admins,
      delete: ['owner'],
      deliveries: admins,
      catalogue: [...admins, 'member'],
      rotateSecret: admins,
      test: admins,
      resendFailed: admins,
      messages: admins,
    };
    for (const [operation, people] of Object.entries(may))
      for (const person of ['owner', 'admin', 'member', 'outsider'] as const) {
        const { id: webhookId } = await newHook();
        const before = await rowOf(webhookId);
        const input = {
          id: team.id,
          ...(['list', 'events', 'catalogue'].includes(operation) ? {} : { webhookId, since: 0 }),
        };
        const more = ['create', 'update'].includes(operation) ? { ...VALID, name: 'New' } : {};
        const outcome = await call(`webhooks.${operation}`, team[person].token, { ...input, ...more });
        const allowed = people.includes(person);
        expect(outcome, `${operation} by ${person}`).toEqual(allowed ? [200, undefined] : [403, 'Forbidden']);
        if (!allowed) expect(await rowOf(webhookId)).toEqual(before);
      }
  });

  test('nobody is 401, and an unknown workspace 404, before anything else', async () => {
    for (const operation of OPERATIONS) {
      const input = { id: 2_147_483_647, webhookId: 0, name: '', limit: 0, since: -1, deliveryId: 0, messageId: '' };
      expect(await call(`webhooks.${operation}`, undefined, input)).toEqual([401, 'Unauthorized']);
      expect(await call(`webhooks.${operation}`, team.owner.token, input)).toEqual([404, 'Workspace not found']);
      expect(await call(`webhooks.${operation}`, team.outsider.token, { ...input, id: team.id })).toEqual([
        403,
        'Forbidden',
      ]);
    }
  });

  test('a webhook of another workspace is exactly like an unknown one', async () => {
    const foreign = await newHook({}, other);
    const before = await rowOf(foreign.id);
    for (const operation of OF_ONE) {
      const answers = [];
      for (const webhookId of [foreign.id, 2_147_483_647]) {
        const message = { deliveryId: 1, messageId: `msg_${'0'.repeat(32)}`, since: 0 };
        const update = operation === 'update' && { toggle: true, name: 'Taken' };
        const input = { id: team.id, webhookId, ...message, ...update };
        const { status, body } = await transport(app, {
          name: `webhooks.${operation}`,
          token: team.owner.token,
          input,
        });
        const { request_id, ...problem } = body as Record<string, unknown>;
        answers.push({ status, ...problem });
      }
      expect(answers[0]).toEqual({
        status: 404,
        error: 'Webhook not found',
        message: 'Webhook not found',
        code: 'NOT_FOUND',
      });
      expect(answers[1]).toEqual(answers[0]);
    }
    expect(await rowOf(foreign.id)).toEqual(before);
  });

  test.each([0, -1, 1.5, 2_147_483_648, 'abc'])('%j is no webhook id: 400', async (webhookId) => {
    for (const operation of OF_ONE) {
      const input = { id: team.id, webhookId, deliveryId: 1, messageId: '', since: 0 };
      expect(await call(`webhooks.${operation}`, team.owner.token, input)).toEqual([
        400,
        'webhookId must be a positive 32-bit integer',
      ]);
    }
  });

  test('a key of the workspace does what its creator may', async () => {
    const { apiKey } = await team.admin.client.apiKeys.create.mutate({ id: team.id, name: 'Deploy' });
    const { id: webhookId } = await newHook();
    const input = { id: team.id, webhookId };
    expect(await call('webhooks.create', apiKey.full_key, { ...VALID, id: team.id })).toEqual([200, undefined]);
    expect(await call('webhooks.update', apiKey.full_key, { ...input, toggle: true })).toEqual([200, undefined]);
    expect(await call('webhooks.list', apiKey.full_key, { id: team.id })).toEqual([200, undefined]);
    expect(await call('webhooks.delete', apiKey.full_key, input)).toEqual([403, 'Forbidden']);
  });
});

test('a secret is shown in the answer that makes it only: in no list, no change, no refusal and no log', async () => {
  const { id, secret } = await newHook();
  const path = `${webhooks}/${id}`;
  const rotated = await app.http.post(`${path}/rotate-secret`, team.owner.token);
  const secrets = [secret, rotated.body.webhook.secret];
  const seen: unknown[] = [];
  for (const call of [
    () => app.http.get(webhooks, team.owner.token),
    () => app.http.patch(path, team.owner.token, { toggle: true, name: 'Other' }),
    () => app.http.patch(path, team.owner.token),
    () => app.http.patch(path, team.owner.token, { name: '', secret }),
    () => app.http.get(`${path}/deliveries`, team.owner.token),
    () => app.http.post(`${path}/test`, team.owner.token),
    () => app.http.post(`${path}/resend`, team.owner.token, { since: 0 }),
    () => app.http.get(webhooks, team.member.token),
    () => app.http.delete(path, team.owner.token),
  ])
    seen.push((await call()).body);
  for (const one of secrets) expect(JSON.stringify(seen)).not.toContain(one.slice(6));
  expect(JSON.stringify(seen)).not.toMatch(/"secret"|whsec_/i);
  const logs = JSON.stringify(app.logLines);
  expect(app.logLines.length).toBeGreaterThan(0);
  expect(logs).not.toContain('whsec_');
  for (const one of secrets) expect(logs).not.toContain(one.slice(6));
});

test('a creator whose account is deleted leaves the webhook, without an author', async () => {
  const { id } = await newHook({}, other);
  expect((await app.http.delete('/api/auth/me', other.admin.token)).status).toBe(200);
  const { body } = await app.http.get(`${other.path}/webhooks`, other.owner.token);
  expect(body.webhooks.find((webhook: Hook) => webhook.id === id)).toMatchObject({ created_by: null, is_active: 1 });
  expect((await app.http.delete(other.path, other.owner.token)).status).toBe(200);
  expect(await app.services.db.webhook.count({ where: { id } })).toBe(0);
});
