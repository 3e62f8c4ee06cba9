/** How many statements each operation sends to the database, so that a change of a number is noticed. */
import pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RELAY_CHANNEL } from '../../src/db/event-signal.ts';
import { rows } from '../contract/operations.ts';
import { type Restorer, saveRows } from '../contract/restore.ts';
import { allowedRoles, validCall } from '../contract/row.ts';
import { statementHint } from '../contract/row-hints.ts';
import { createWorld, type Scene, type World } from '../contract/scene.ts';
import { viaRest } from '../contract/transports.ts';
import { bodyOf, livekitParticipant, signLivekit } from '../meeting-providers/adapters/callbacks.ts';
import { uploadFile } from '../recordings/recording-fixtures.ts';
import { startTestApp } from '../support/test-app.ts';
import { upload } from '../support/world.ts';

/**
 * Statements of one successful call by the lowest role, including `begin`, `commit` and the one that reads the caller
 * and their role. Statements that start after the response, such as those that delete files, do not count.
 */
const STATEMENTS: Record<string, number> = {
  'auth.register': 13,
  'auth.login': 7,
  'auth.logout': 5,
  'auth.me': 1,
  'auth.log': 2,
  'auth.reauthenticate': 7,
  'auth.updateMe': 4,
  'auth.deleteMe': 12,
  'openid.providers': 1,
  'openid.start': 1,
  'openid.complete': 9,
  'openid.link': 2,
  'openid.reauthenticate': 2,
  'openid.identities': 2,
  'openid.unlink': 13,
  'sessions.list': 2,
  'sessions.end': 5,
  'sessions.endOthers': 5,
  'access.list': 2,
  'access.end': 20,
  'apps.list': 2,
  'apps.describe': 2,
  'apps.connect': 13,
  'apps.disconnect': 6,
  'secondFactor.read': 2,
  'secondFactor.setUp': 8,
  'secondFactor.confirm': 13,
  'secondFactor.createRecoveryCodes': 11,
  'secondFactor.remove': 13,
  'emails.verify': 8,
  'emails.resend': 6,
  'emails.change': 9,
  'passwords.forgot': 4,
  'passwords.reset': 31,
  'passkeys.startSignIn': 1,
  'passkeys.signIn': 9,
  'passkeys.startRegistration': 4,
  'passkeys.register': 11,
  'passkeys.list': 2,
  'passkeys.rename': 2,
  'passkeys.remove': 10,
  'passkeys.startReauthentication': 3,
  'passkeys.reauthenticate': 9,
  'workspaces.list': 2,
  'workspaces.create': 6,
  'workspaces.read': 2,
  'workspaces.usage': 2,
  'workspaces.search': 3,
  'workspaces.rename': 2,
  'workspaces.meetingSettings': 2,
  'workspaces.setMeetingSettings': 2,
  'workspaces.signInRequirement': 2,
  'workspaces.setSignInRequirement': 9,
  'workspaces.joinDomain': 2,
  'workspaces.setJoinDomain': 8,
  'workspaces.delete': 10,
  'workspaces.invite': 2,
  'workspaces.revokeInvite': 2,
  'workspaces.lookUpInvite': 1,
  'workspaces.join': 11,
  'workspaces.listJoinable': 2,
  'workspaces.joinByDomain': 11,
  'branding.read': 2,
  'branding.change': 9,
  'branding.removeLogo': 9,
  'branding.setLogo': 9,
  'branding.logo': 1,
  'members.list': 2,
  'members.changeRole': 9,
  'members.remove': 12,
  'invitations.list': 2,
  'invitations.create': 11,
  'invitations.resend': 11,
  'invitations.revoke': 5,
  'invitations.lookUp': 1,
  'invitations.accept': 13,
  'labels.list': 2,
  'labels.create': 2,
  'labels.update': 4,
  'labels.delete': 2,
  'library.list': 2,
  'library.read': 2,
  'library.download': 2,
  'library.file': 2,
  'library.update': 3,
  'library.delete': 7,
  'library.deleteMany': 7,
  'trash.list': 2,
  'trash.addItems': 11,
  'trash.addRecordings': 10,
  'trash.addRoom': 16,
  'trash.restore': 12,
  'trash.delete': 8,
  'trash.empty': 7,
  'library.labelMany': 6,
  'library.assignLabel': 3,
  'library.unassignLabel': 3,
  'library.upload': 7,
  'library.setPoster': 8,
  'library.poster': 2,
  'library.createUpload': 7,
  'library.appendUpload': 5,
  'library.readUpload': 3,
  'library.cancelUpload': 3,
  'rooms.list': 2,
  'rooms.create': 2,
  'rooms.read': 2,
  'rooms.update': 9,
  'rooms.delete': 16,
  'rooms.lock': 11,
  'rooms.unlock': 9,
  'rooms.close': 13,
  'rooms.muteAll': 6,
  'rooms.listInWorkspace': 2,
  'rooms.readInWorkspace': 2,
  'rooms.setRecordingsVisibility': 7,
  'rooms.readPublic': 1,
  'rooms.generateName': 1,
  'participants.join': 1,
  'participants.presence': 3,
  'participants.signal': 2,
  'participants.leave': 2,
  'participants.list': 3,
  'participants.listWaiting': 2,
  'participants.admit': 11,
  'participants.refuse': 8,
  'participants.remove': 12,
  'recordings.list': 2,
  'recordings.listInRoom': 3,
  'recordings.listInWorkspace': 2,
  'recordings.readInWorkspace': 2,
  'recordings.downloadInWorkspace': 2,
  'meetings.list': 2,
  'meetings.read': 3,
  'recordings.download': 2,
  'recordings.start': 13,
  'recordings.startInRoom': 14,
  'recordings.stop': 8,
  'recordings.stopInRoom': 8,
  'recordings.rename': 9,
  'recordings.retryCopy': 7,
  'recordings.delete': 8,
  'recordings.saveToLibrary': 11,
  'recordings.upload': 16,
  'recordings.setPoster': 7,
  'recordings.poster': 2,
  'recordings.posterInWorkspace': 2,
  'recordings.createUpload': 10,
  'recordings.appendUpload': 7,
  'recordings.readUpload': 4,
  'recordings.cancelUpload': 4,
  'retention.read': 2,
  'retention.set': 2,
  'retention.preview': 2,
  'retention.readRecordings': 2,
  'retention.setRecordings': 2,
  'retention.previewRecordings': 2,
  'apiKeys.list': 2,
  'apiKeys.create': 13,
  'apiKeys.toggle': 10,
  'apiKeys.rotate': 11,
  'apiKeys.delete': 6,
  'webhooks.list': 2,
  'webhooks.events': 1,
  'webhooks.catalogue': 1,
  'webhooks.create': 8,
  'webhooks.update': 9,
  'webhooks.delete': 6,
  'webhooks.rotateSecret': 8,
  'webhooks.test': 8,
  'webhooks.deliveries': 2,
  'webhooks.resend': 10,
  'webhooks.resendFailed': 17,
  'webhooks.messages': 2,
  'webhooks.resendMessage': 10,
  'webhooks.message': 3,
  'contacts.list': 2,
  'contacts.listEvents': 3,
  'contacts.read': 3,
  'contacts.create': 2,
  'contacts.update': 6,
  'contacts.delete': 6,
  'contacts.export': 3,
  'contacts.import': 8,
  'people.exportAccount': 23,
  'people.export': 14,
  'people.erase': 41,
  'people.exportContact': 15,
  'people.exportParticipant': 15,
  'bookingPages.list': 2,
  'bookingPages.create': 6,
  'bookingPages.update': 6,
  'bookingPages.delete': 9,
  'bookings.times': 2,
  'bookings.book': 9,
  'bookings.confirm': 17,
  'bookings.lookUp': 1,
  'bookings.timesToMove': 3,
  'bookings.reschedule': 14,
  'bookings.cancel': 13,
  'bookings.approve': 18,
  'bookings.cancelByTeam': 14,
  'bookings.rescheduleByTeam': 16,
  'bookings.list': 2,
  'calendarFeed.read': 2,
  'calendarFeed.create': 8,
  'calendarFeed.delete': 5,
  'calendarFeed.download': 1,
  'connections.list': 2,
  'connections.create': 8,
  'connections.rotate': 9,
  'connections.listUnmatched': 3,
  'connections.delete': 7,
  'ingest.callback': 18,
  'analytics.read': 2,
  'analytics.readRange': 3,
  'analytics.export': 2,
  'audit.list': 2,
  'audit.verify': 3,
  'audit.erase': 7,
  'audit.export': 3,
  'audit.exportLines': 3,
  'events.stream': 2,
  'participants.stream': 2,
  'participants.create': 7,
  'participants.listPasses': 3,
  'participants.revokePass': 7,
  'embedTokens.list': 2,
  'embedTokens.current': 1,
  'embedTokens.create': 7,
  'embedTokens.revoke': 7,
  'participants.exchange': 5,
};

type Query = { text?: string; values?: readonly unknown[] };

let world: World;
let scene: Scene;
let restorer: Restorer;
let statements: string[] = [];

// The driver's own method sees everything that reaches PostgreSQL.
const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
const original = prototype.query;

beforeAll(async () => {
  world = await createWorld(await startTestApp());
  scene = await world.addScene();
  restorer = await saveRows(world.app);
  prototype.query = function query(this: unknown, ...args: unknown[]): unknown {
    const [first] = args;
    const { text = '', values = [] } = typeof first === 'string' ? { text: first } : (first as Query);
    if (!isShared(text) && !isRelaySignal(text, values)) statements.push(text);
    return original.apply(this, args);
  };
});
afterEach(() => restorer.restore());
afterAll(async () => {
  prototype.query = original;
  await restorer.close();
  await world.app.close();
});

/** The notification that follows commits with new events. Several calls share one. */
function isRelaySignal(text: string, [channel, sender]: readonly unknown[]): boolean {
  return text.startsWith('select pg_notify(') && channel === RELAY_CHANNEL && sender !== '';
}

/**
 * All streams share the connection for
 * notifications and the reader of the event log. The settings of a connection are sent when the pool opens it, in
 * whichever call that is.
 */
function isShared(text: string): boolean {
  return /^(?:SET jit|listen |select 1$)|as p \("workspaceId" int, sequence bigint\)/m.test(text);
}

test.each(Object.entries(rows))('%s sends the listed number of statements', async (name, row) => {
  const by = (await row.caller?.(world)) ?? scene[allowedRoles(row).at(-1) ?? 'owner'];
  const call = validCall(name, row, scene, by);
  statements = [];
  const { status } = await viaRest(world.app, call);
  const isLater = (statement: string): boolean => name !== 'library.delete' && /discarded_objects/.test(statement);
  const sent = statements.filter((statement) => !isLater(statement));
  expect(status).toBe(row.status ?? 200);
  const hint = name in STATEMENTS ? '' : statementHint(name, sent.length);
  expect(sent.length, hint + sent.join('\n')).toBe(STATEMENTS[name]);
});

test.each([
  // A claim, the mark in a transaction, and the answer.
  ['rooms.create', 7, 2],
  ['labels.update', 9, 2],
  ['members.changeRole', 12, 2],
  // The answer is stored in the transaction.
  ['library.upload', 9, 2],
])('%s with an idempotency key sends %i statements, and %i if it is repeated', async (name, count, repeated) => {
  const row = rows[name];
  if (!row) throw new Error(`No operation ${name}`);
  const call = validCall(name, row, scene, scene[allowedRoles(row).at(-1) ?? 'owner']);
  const headers = { 'idempotency-key': crypto.randomUUID() };
  for (const expected of [count, repeated]) {
    statements = [];
    expect((await viaRest(world.app, { ...call, headers })).status).toBe(row.status ?? 200);
    expect(statements.length, statements.join('\n')).toBe(expected);
  }
});

test('recordings.upload with the upload token sends one more, which checks for a removal', async () => {
  const { recordingId, uploadToken } = scene.stoppedRecording;
  statements = [];
  const { status } = await uploadFile(world.app, recordingId, uploadToken);
  expect(status).toBe(200);
  expect(statements.length, statements.join('\n')).toBe((STATEMENTS['recordings.upload'] ?? 0) + 1);
});

test('a LiveKit callback sends 18 statements, 5 if it is repeated, and 1 without a signature', async () => {
  const { app } = world;
  const where = { workspaceId_id: { workspaceId: scene.workspaceId, id: scene.connectionId } };
  const { ingestId } = await app.services.db.meetingConnection.findUniqueOrThrow({ where });
  const body = bodyOf(livekitParticipant('participant_joined', {}, { room: { name: scene.roomName } }));
  const headers = await signLivekit(body, 'APIscene', 'a secret of the scene');
  for (const [count, status, sent] of [
    [18, 200, headers],
    [5, 200, headers],
    [1, 401, {}],
  ] as const) {
    statements = [];
    const request = { body: new Uint8Array(body), headers: sent };
    const answer = await app.http.call('POST', `/api/ingest/${ingestId}`, request);
    expect([answer.status, statements.length], statements.join('\n')).toEqual([status, count]);
  }
});

test('a rejected request sends at most one statement, and none without a valid form of credential', async () => {
  const { http } = world.app;
  const path = `/api/workspaces/${scene.workspaceId}/labels`;
  for (const [token, json, status, count] of [
    [undefined, {}, 401, 0],
    ['x', {}, 401, 0],
    [`lns_${'A'.repeat(43)}`, {}, 401, 1],
    [scene.outsider.token, { name: 'New' }, 403, 1],
    [scene.member.token, { name: 'New' }, 403, 1],
    [scene.admin.token, { name: '' }, 400, 1],
  ] as const) {
    statements = [];
    const answer = await http.post(path, token, json);
    expect([answer.status, statements.length], statements.join('\n')).toEqual([status, count]);
  }
});

test('library.list sends the same number of statements for any number of items and labels', async () => {
  const path = `/api/workspaces/${scene.workspaceId}`;
  for (let item = 0; item < 5; item += 1) await upload(world.app, path, scene.member.token);
  statements = [];
  const { body } = await world.app.http.get(`${path}/library`, scene.member.token);
  expect(body.items).toHaveLength(6);
  expect(statements).toHaveLength(STATEMENTS['library.list'] ?? 0);
});
