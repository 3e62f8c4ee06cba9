/** `webhooks listen` with real delivery. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { verifyWebhook } from '../../packages/client/src/index.ts';
import { startTestDelivery, type TestDelivery } from '../support/delivery.ts';
import { eventually } from '../support/eventually.ts';
import { startReceiver } from '../support/receiver.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Person, type Team } from '../support/world.ts';
import { type CommandLine, createCommandLine } from './command-line.ts';
import { type NullCursors, startNullCursors } from './null-cursors.ts';

let app: TestApp;
let delivery: TestDelivery;
let team: Team;
/** The same service as it was in version 0.2. */
let nullCursors: NullCursors;
beforeAll(async () => {
  app = await startTestApp();
  delivery = await startTestDelivery(app);
  team = await addTeam(app);
  nullCursors = await startNullCursors(app.url);
});
afterAll(async () => {
  nullCursors.close();
  await delivery.stop();
  await app.close();
});

let cli: CommandLine;
beforeEach(async () => {
  const home = await makeTempDir();
  cli = createCommandLine(home);
  return () => rm(home, { recursive: true, force: true });
});

const READY = /The signing secret is (whsec_\S+)/;

function start(person: Person, args: string[], url = app.url) {
  const env = { LYNXROOM_URL: url, LYNXROOM_TOKEN: person.token, LYNXROOM_WORKSPACE: String(team.id) };
  return cli.start(['webhooks', 'listen', '--json', ...args], READY, { env });
}

async function listWebhooks(): Promise<{ is_active: number }[]> {
  return (await app.http.get(`${team.path}/webhooks`, team.owner.token)).body.webhooks;
}

let rooms = 0;
async function createRoom(): Promise<string> {
  rooms += 1;
  const name = `listen-${rooms}`;
  await team.owner.client.rooms.create.mutate({ workspace_id: team.id, name });
  return name;
}

test.each([
  ['received on this machine', [], () => app.url],
  ['read from the API', ['--poll'], () => app.url],
  ['read from the API of version 0.2', ['--poll'], () => nullCursors.url],
])('messages %s are printed once, and forwarded with valid signatures', async (_how, args, url) => {
  const receiver = await startReceiver();
  const options = ['--events', 'room.created', '--forward-to', receiver.url, ...args];
  const listening = await start(team.owner, options, url());
  const [, secret = ''] = READY.exec(listening.stderr()) ?? [];
  const names = [await createRoom(), await createRoom(), await createRoom()];
  await eventually(async () => listening.stdout().split('\n').length > names.length);
  const { status, stdout } = await listening.interrupt();
  expect(status).toBe(0);
  const messages = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  // Messages about different rooms are sent at once, so they may arrive in any order.
  expect(messages.map(({ body }) => body.data.room_name).sort()).toEqual(names);
  expect(messages[0]).toMatchObject({ event: 'room.created', forwarded: `${receiver.url} answered 200` });

  expect(receiver.requests.length).toBe(names.length);
  for (const { body, headers } of receiver.requests) {
    const verified = await verifyWebhook(body, headers, secret);
    expect(verified.event).toBe('room.created');
    expect(headers['x-webhook-event']).toBe('room.created');
    expect(Number(headers['x-webhook-sequence'])).toBeGreaterThan(0);
  }
  expect(await listWebhooks()).toEqual([]);
  await receiver.close();
});

test('an admin, who may not delete webhooks, leaves an inactive one', async () => {
  const listening = await start(team.admin, []);
  const { status, stderr } = await listening.interrupt();
  expect(status).toBe(0);
  expect(stderr).toMatch(/Deactivated the temporary webhook \d+: only an owner can delete it/);
  expect(await listWebhooks()).toMatchObject([{ is_active: 0 }]);
});

test('an unknown event is refused before anything is created', async () => {
  await expect(start(team.owner, ['--events', 'room.painted'])).rejects.toThrow(/no event room.painted. Events: room/);
  await expect(start(team.member, [])).rejects.toThrow('Forbidden');
});
