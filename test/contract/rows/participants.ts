import { inWorkspace, type Refusal, type Row, type Rows, wrongPages } from '../row.ts';
import type { Scene } from '../scene.ts';
import { PAGE, PEER_PAGE } from '../scene-content.ts';
import type { Input } from '../transports.ts';

const byToken: Pick<Row, 'who' | 'keys' | 'input' | 'writes' | 'children' | 'wrong'> = {
  who: 'anyone',
  keys: true,
  input: inRoom,
  writes: true,
  children: { roomName: 'Participant not found', token: 'Participant not found' },
  wrong: [
    { input: { token: undefined }, message: 'token is required', path: 'token' },
    { input: { token: 5 }, message: 'token must be a string', path: 'token' },
    { input: { token: null }, message: 'token must be a string', path: 'token' },
  ],
};

function wrongConnections(path: string): Refusal[] {
  return ['short', 'a'.repeat(65), 'a b c d e', 5].map((value) => ({
    input: { [path]: value },
    message:
      typeof value === 'string'
        ? `${path} must have 8 to 64 characters of A-Z, a-z, 0-9, _ and -`
        : `${path} must be a string`,
    path,
  }));
}

const byHost: Pick<Row, 'who' | 'keys' | 'children'> = {
  who: 'room host',
  keys: true,
  children: { name: 'Room not found', participantId: 'Participant not found' },
};

export const participantRows: Rows = {
  'participants.join': {
    who: 'anyone',
    acceptsCredential: true,
    keys: false,
    forbidden: 'Join with a session, or as a guest without the Authorization header',
    input: ({ roomName }) => ({ roomName, name: ' Vera Novak ', email: 'Vera@Example.com' }),
    writes: true,
    random: ['reference'],
    wrong: [
      ...[undefined, null, '', ' \t '].map((name) => ({
        input: { name },
        message: 'name is required',
        path: 'name',
      })),
      { input: { name: 5 }, message: 'name must be a string', path: 'name' },
      { input: { name: 'x'.repeat(101) }, message: 'name must have at most 100 characters', path: 'name' },
      {
        input: { name: 'a\u0000' },
        message: 'name must not contain control characters or invalid Unicode',
        path: 'name',
      },
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { email: 5 }, message: 'email must be a string', path: 'email' },
      {
        input: { email: `${'x'.repeat(250)}@example.com` },
        message: 'email must have at most 254 characters',
        path: 'email',
      },
    ],
  },
  'participants.create': {
    who: 'admin',
    keys: true,
    scope: 'write',
    input: ({ workspaceId, roomName }) => ({
      id: workspaceId,
      roomName,
      name: ' Vera  Novak ',
      email: 'Vera@Example.com',
      external_id: ' patient-1 ',
      is_host: 1,
      admitted: true,
      may_record: 0,
      metadata: { plan: 'pro' },
    }),
    writes: true,
    random: ['token', 'join_url'],
    children: { roomName: 'Room not found' },
    wrong: [
      ...[undefined, null, ' '].map((name) => ({ input: { name }, message: 'Name is required', path: 'name' })),
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { external_id: ' ' }, message: 'external_id must not be blank', path: 'external_id' },
      {
        input: { external_id: 'x'.repeat(201) },
        message: 'external_id must have at most 200 characters',
        path: 'external_id',
      },
      ...['is_host', 'admitted', 'may_record'].map((flag) => ({
        input: { [flag]: 2 },
        message: `${flag} must be 1 or 0`,
        path: flag,
      })),
      { input: { expires_at: 1 }, message: 'expires_at must be in the future', path: 'expires_at' },
      {
        input: { expires_at: 253_402_300_799 },
        message: 'expires_at must be at most 30 days ahead',
        path: 'expires_at',
      },
      {
        input: { metadata: { text: 'x'.repeat(2_048) } },
        message: 'metadata must have at most 2048 bytes of JSON',
        path: 'metadata',
      },
    ],
  },
  'participants.listPasses': {
    who: 'admin',
    keys: true,
    input: ({ workspaceId, roomName }) => ({ id: workspaceId, roomName, limit: 10 }),
    writes: false,
    children: { roomName: 'Room not found' },
    wrong: wrongPages,
  },
  'participants.revokePass': {
    who: 'admin',
    keys: true,
    scope: 'write',
    input: ({ workspaceId, roomName, passId }) => ({ id: workspaceId, roomName, passId }),
    writes: true,
    children: { roomName: 'Room not found', passId: 'Pass not found' },
  },
  'participants.exchange': {
    who: 'anyone',
    keys: true,
    input: ({ roomName, linkToken }) => ({ roomName, token: linkToken }),
    writes: true,
    random: ['reference'],
    children: { token: 'Link not found' },
    wrong: [{ input: { token: 5 }, message: 'token must be a string', path: 'token' }],
  },
  'participants.presence': {
    ...byToken,
    input: (scene) => ({ ...inRoom(scene), connection_id: PAGE, microphone: 1, camera: true, screen: 0 }),
    wrong: [
      ...(byToken.wrong ?? []),
      ...wrongConnections('connection_id'),
      ...['microphone', 'camera', 'screen'].flatMap((name) =>
        [2, '1'].map((flag) => ({ input: { [name]: flag }, message: `${name} must be 1 or 0`, path: name })),
      ),
    ],
    cases: {
      'an unknown connection': {
        call: (scene) => ({ input: { ...inRoom(scene), connection_id: 'page-of-nobody' } }),
        status: 409,
        message: 'Open the stream with this connection_id first',
      },
    },
  },
  'participants.signal': {
    ...byToken,
    input: (scene) => ({
      ...inRoom(scene),
      connection_id: PAGE,
      to: scene.peerId,
      to_connection_id: PEER_PAGE,
      data: 'anything',
    }),
    wrong: [
      ...(byToken.wrong ?? []),
      { input: { connection_id: undefined }, message: 'connection_id is required', path: 'connection_id' },
      ...wrongConnections('connection_id'),
      ...wrongConnections('to_connection_id'),
      { input: { to: undefined }, message: 'to is required', path: 'to' },
      { input: { to: '1' }, message: 'to must be a positive 32-bit integer', path: 'to' },
      { input: { data: undefined }, message: 'data is required', path: 'data' },
      { input: { data: { sdp: '' } }, message: 'data must be a string', path: 'data' },
      { input: { data: 'ü'.repeat(8_193) }, message: 'data must have at most 16384 bytes', path: 'data' },
      ...['a\u0000', '\ud800'].map((data) => ({
        input: { data },
        message: 'data must not contain NUL or invalid Unicode',
        path: 'data',
      })),
    ],
  },
  'participants.leave': byToken,
  'participants.stream': {
    who: 'anyone',
    keys: true,
    input: inRoom,
    writes: false,
    children: { roomName: 'Participant not found', token: 'Participant not found' },
  },
  'participants.list': {
    who: 'room host',
    keys: true,
    input: ({ roomName }) => ({ name: roomName, status: 'waiting', limit: 10, offset: 0 }),
    writes: false,
    children: { name: 'Room not found' },
    wrong: [
      ...wrongPages,
      { input: { status: 'here' }, message: 'status must be one of waiting, joined, refused, left', path: 'status' },
    ],
  },
  'participants.listWaiting': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), limit: 10, offset: 0 }),
    writes: false,
    wrong: wrongPages,
  },
  'participants.admit': { ...byHost, input: waiting, writes: true },
  'participants.refuse': { ...byHost, input: waiting, writes: true },
  'participants.remove': { ...byHost, input: waiting, writes: true },
};

function inRoom({ roomName, participantToken }: Scene): Input {
  return { roomName, token: participantToken };
}

function waiting({ roomName, participantId }: Scene): Input {
  return { name: roomName, participantId };
}
