/** A LiveKit server of the workspace carries the media: what its connection takes, and the tokens of participants. */
import { TokenVerifier } from 'livekit-server-sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { enter } from '../meetings/pages.ts';
import { concurrently, countStatuses } from '../support/concurrently.ts';
import { dumpTables } from '../support/dump.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const key = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };
const url = 'ws://127.0.0.1:7880';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

function connect(team: Team, credentials: Record<string, unknown> = { ...key, url }) {
  return app.http.post(`${team.path}/connections`, team.owner.token, {
    name: 'Video',
    provider: 'livekit',
    credentials,
  });
}

async function newTeam(credentials?: Record<string, unknown>) {
  const team = await addTeam(app);
  const { body } = await connect(team, credentials);
  const { room } = await team.owner.client.rooms.create.mutate({ workspace_id: team.id });
  return { team, roomName: room.name, connection: body.connection };
}

const join = async (roomName: string, json: object = { name: 'Gus' }, token?: string) =>
  (await app.http.post(`/api/rooms/${roomName}/join`, token, json)).body;

const verify = (token: string, secret = key.api_secret) => new TokenVerifier(key.api_key, secret).verify(token);

test('a participant gets the server and a short token for the room, whose identity names the page', async () => {
  const { roomName } = await newTeam();
  const { participant, media } = await join(roomName);
  expect(media).toEqual({
    kind: 'livekit',
    url,
    token: expect.any(String),
    token_expires_at: expect.any(Number),
    egress: 0,
  });
  const claims = await verify(media.token);
  expect(claims).toMatchObject({
    iss: key.api_key,
    exp: media.token_expires_at,
    name: 'Gus',
    attributes: { role: 'guest' },
    video: { room: roomName, roomJoin: true, roomAdmin: false, canPublish: true, canUpdateOwnMetadata: false },
  });
  expect(claims.sub).toMatch(new RegExp(`^${participant.reference}\\.[\\w-]+$`));
  // Everybody in the room sees what a token says about its bearer.
  expect(JSON.stringify(claims)).not.toContain(participant.token);
  const seconds = media.token_expires_at - Date.now() / 1000;
  expect(seconds).toBeGreaterThan(290);
  expect(seconds).toBeLessThanOrEqual(600);
  await expect(verify(media.token, 'another secret')).rejects.toThrow();

  // Presence renews the token. The stream of a page has one for that page.
  const presence = await app.http.post(`/api/rooms/${roomName}/presence`, undefined, { token: participant.token });
  expect((await verify(presence.body.media.token)).exp).toBeGreaterThanOrEqual(media.token_expires_at);
  const query = `token=${participant.token}&peers=1&connection_id=page-0123456789`;
  const { body } = await app.http.get(`/api/rooms/${roomName}/presence/stream?${query}`);
  const { data } = JSON.parse(/^data: ?(.*)$/m.exec(body)?.[1] ?? '');
  expect((await verify(data.media.token)).sub).toBe(`${participant.reference}.page-0123456789`);
});

test('a host has the role of a host, and no right over the room on the server', async () => {
  const { team, roomName } = await newTeam();
  const { media } = await join(roomName, {}, team.owner.token);
  expect(await verify(media.token)).toMatchObject({ attributes: { role: 'host' }, video: { roomAdmin: false } });
  const member = await join(roomName, {}, team.member.token);
  expect(await verify(member.media.token)).toMatchObject({ attributes: { role: 'member' } });
});

test('a participant who waits or was removed gets no token', async () => {
  const { team, roomName } = await newTeam();
  const { client } = team.owner;
  await client.rooms.update.mutate({ name: roomName, waiting_room_enabled: 1 });
  const waiting = await join(roomName);
  expect(waiting).toMatchObject({ participant: { status: 'waiting' }, media: null });
  await client.participants.admit.mutate({ name: roomName, participantId: waiting.participant.id });
  const { token } = waiting.participant;
  const presence = () => app.http.post(`/api/rooms/${roomName}/presence`, undefined, { token });
  expect((await presence()).body.media.kind).toBe('livekit');
  await client.participants.remove.mutate({ name: roomName, participantId: waiting.participant.id });
  expect((await presence()).status).toBe(403);
});

test('only the connection with a URL carries media, and deleting it ends that', async () => {
  const { team, roomName, connection } = await newTeam(key);
  expect(connection.media_url).toBeNull();
  expect((await join(roomName)).media).toEqual({ kind: 'none' });
  const carrying = (await connect(team)).body.connection;
  expect(carrying.media_url).toBe('http://127.0.0.1:7880');
  expect((await join(roomName)).media.kind).toBe('livekit');
  const { room } = (await app.http.get(`/api/rooms/${roomName}`)).body;
  expect(room.media).toBe('livekit');
  await team.owner.client.connections.delete.mutate({ id: team.id, connectionId: carrying.id });
  expect((await join(roomName)).media).toEqual({ kind: 'none' });
});

test('a workspace has one server, however many are connected at once', async () => {
  const team = await addTeam(app);
  const answers = await concurrently(5, () => connect(team));
  expect(countStatuses(answers)).toEqual({ 200: 1, 409: 4 });
  expect(answers.find(({ status }) => status === 409)?.body.message).toBe(
    'Another connection already carries the media of the workspace',
  );
});

test('rotating signs with the new secret at once, and keeps the server unless another is named', async () => {
  const { team, roomName, connection } = await newTeam();
  const rotate = (credentials: Record<string, unknown>) =>
    team.owner.client.connections.rotate.mutate({ id: team.id, connectionId: connection.id, credentials });
  const secret = 'the second secret of LiveKit';
  expect((await rotate({ ...key, api_secret: secret })).connection.media_url).toBe('http://127.0.0.1:7880');
  const { media } = await join(roomName);
  await verify(media.token, secret);
  await expect(verify(media.token)).rejects.toThrow();
  const moved = await rotate({ ...key, api_secret: secret, url: 'wss://livekit.example.com' });
  expect(moved.connection.media_url).toBe('https://livekit.example.com');
  expect((await join(roomName)).media.url).toBe('wss://livekit.example.com');
});

test.each([
  ['ws://livekit.example.com', 'credentials.url must begin with wss:// or https://'],
  ['wss://10.0.0.1', 'credentials.url must point to a public address or to this machine'],
  ['wss://livekit.example.com:22', 'credentials.url must use port 80, 443 or one from 1024 to 65535'],
  ...['livekit.example.com', 'ftp://livekit.example.com', 'wss://u@livekit.example.com', 'wss://x.example.com/a'].map(
    (text) => [text, 'credentials.url must be a URL such as wss://livekit.example.com, without a path'],
  ),
])('the URL %s is refused, as the field that it is', async (text, message) => {
  const { status, body } = await connect(await addTeam(app), { ...key, url: text });
  expect([status, body.issues]).toEqual([400, [{ path: 'credentials.url', message }]]);
});

test('nothing gives the secret back, and the database has it only sealed', async () => {
  const { team, roomName, connection } = await newTeam();
  await join(roomName);
  const { body } = await app.http.get(`${team.path}/connections`, team.owner.token);
  const shown = JSON.stringify([connection, body, await dumpTables(app)]);
  expect(shown).not.toContain(key.api_secret);
  expect(shown).not.toContain(Buffer.from(key.api_secret).toString('hex'));
});

test('presence and the stream of a page give it a newer token in time', async () => {
  const { roomName } = await newTeam();
  const page = await enter(app, roomName, 'Gus');
  const received = () => page.stream.events.flatMap(({ data }) => data.data?.media ?? []);
  const first = received().at(-1);
  const beat = async () => {
    const json = { token: page.token, connection_id: page.connectionId };
    return (await app.http.post(`/api/rooms/${roomName}/presence`, undefined, json)).body.media;
  };
  expect((await beat()).token_expires_at).toBeGreaterThanOrEqual(first.token_expires_at);
  app.clock.advance(2.5 * MINUTE_MS);
  await beat();
  app.clock.advance(2.5 * MINUTE_MS);
  // The first token still works for a while.
  expect(first.token_expires_at * 1_000).toBeGreaterThan(app.clock.now().getTime());
  const renewed = await beat();
  expect(renewed.token_expires_at).toBeGreaterThanOrEqual(first.token_expires_at + 300);
  expect(renewed.token).not.toBe(first.token);
  // The same page on the server, which would otherwise end one of the two.
  expect((await verify(renewed.token)).sub).toBe((await verify(first.token)).sub);
  // The stream brings it with the next change; it also looks for changes that nothing announces.
  await join(roomName, { name: 'Ada' });
  await expect
    .poll(() => received().at(-1).token_expires_at, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(renewed.token_expires_at);
  page.stream.close();
});
