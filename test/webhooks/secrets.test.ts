/** Rotating the secret of a webhook: the new one is returned once, and the previous one signs too for 24 hours. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HOUR_MS } from '../../src/core/time.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp({ frozenAt: new Date('2026-06-15T12:00:00Z') });
  team = await addTeam(app);
});
afterAll(() => app.close());

async function addWebhook(): Promise<{ id: number; path: string; secret: string }> {
  const input = { name: 'Chat', url: 'https://example.com/', events: ['room.created'] };
  const { body } = await app.http.post(`${team.path}/webhooks`, team.owner.token, input);
  const { id, secret } = body.webhook;
  return { id, path: `${team.path}/webhooks/${id}`, secret };
}

function rotate(path: string) {
  return app.http.post(`${path}/rotate-secret`, team.admin.token);
}

/** Opens the secrets in the database. */
async function readSecrets(id: number) {
  const row = await app.services.db.webhook.findFirstOrThrow({ where: { id } });
  const open = (sealed: Uint8Array): string =>
    app.services.sealer.open(sealed, { workspaceId: team.id, purpose: 'webhook secret' });
  const { sealedSecret, previousSealedSecret, previousSecretUntil } = row;
  return {
    current: open(sealedSecret),
    previous: previousSealedSecret && open(previousSealedSecret),
    until: previousSecretUntil,
  };
}

function inHours(hours: number): Date {
  return new Date(app.clock.now().getTime() + hours * HOUR_MS);
}

test('returns the webhook with a new secret; the previous one signs too for 24 hours', async () => {
  const { id, path, secret } = await addWebhook();
  expect(await readSecrets(id)).toEqual({ current: secret, previous: null, until: null });
  const { status, body } = await rotate(path);
  expect(status).toBe(200);
  expect(body.webhook).toMatchObject({
    id,
    is_active: 1,
    previous_secret_expires_at: inHours(24).getTime() / 1000,
    updated_at: app.clock.now().getTime() / 1000,
  });
  expect(body.webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(body.webhook.secret).not.toBe(secret);
  expect(await readSecrets(id)).toEqual({ current: body.webhook.secret, previous: secret, until: inHours(24) });
});

test('a second rotation within that time ends the oldest secret', async () => {
  const { id, path } = await addWebhook();
  const first = (await rotate(path)).body.webhook.secret;
  app.clock.advance(HOUR_MS);
  const second = (await rotate(path)).body.webhook.secret;
  expect(await readSecrets(id)).toEqual({ current: second, previous: first, until: inHours(24) });
});

test('lists and updates return the end of the overlap until it has passed', async () => {
  const { id, path } = await addWebhook();
  await rotate(path);
  const until = inHours(24).getTime() / 1000;
  const readExpiries = async (): Promise<unknown[]> => {
    const { body } = await app.http.get(`${team.path}/webhooks`, team.admin.token);
    const listed = body.webhooks.find((webhook: { id: number }) => webhook.id === id);
    const changed = await app.http.patch(path, team.admin.token, {});
    return [listed.previous_secret_expires_at, changed.body.webhook.previous_secret_expires_at];
  };
  app.clock.advance(24 * HOUR_MS - 1);
  expect(await readExpiries()).toEqual([until, until]);
  app.clock.advance(1);
  expect(await readExpiries()).toEqual([null, null]);
});

test('two rotations at once return two secrets: the later one is current, the other one previous', async () => {
  for (let round = 0; round < 5; round += 1) {
    const { id, path, secret } = await addWebhook();
    const responses = await concurrently(2, () => rotate(path));
    expect(countStatuses(responses)).toEqual({ 200: 2 });
    const secrets = responses.map(({ body }) => body.webhook.secret);
    const { current, previous } = await readSecrets(id);
    expect([current, previous].sort()).toEqual(secrets.sort());
    expect(secrets).not.toContain(secret);
  }
});

test('an inactive webhook can be rotated, and stays inactive', async () => {
  const { id, path } = await addWebhook();
  await app.http.patch(path, team.admin.token, { toggle: true });
  expect((await rotate(path)).body.webhook).toMatchObject({ is_active: 0 });
  expect((await readSecrets(id)).until).toEqual(inHours(24));
});

test('neither secret is in the database or the log', async () => {
  const { path, secret } = await addWebhook();
  const secrets = [secret, (await rotate(path)).body.webhook.secret];
  const texts = [JSON.stringify(await dumpTables(app)), JSON.stringify(app.logLines)];
  for (const value of secrets) {
    const raw = Buffer.from(value.slice(6), 'base64');
    const forms = [value.slice(6), raw.toString('hex'), Buffer.from(value).toString('hex')];
    for (const text of texts) for (const form of forms) expect(text).not.toContain(form);
  }
});
