import { inWorkspace, type Refusal, type Rows, wrongColors, wrongPages, wrongRanges } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

const wrongRoomSettings: readonly Refusal[] = [
  { input: { scheduled_at: 'soon' }, message: 'scheduled_at must be a number', path: 'scheduled_at' },
  { input: { scheduled_at: 1e11 + 1 }, message: 'scheduled_at must be in seconds', path: 'scheduled_at' },
  ...wrongColors.map(({ input }) => ({
    input: { accent_color: input.color },
    message: 'accent_color must be a hex color such as #6366f1',
    path: 'accent_color',
  })),
  ...[2, -1, '1'].map((flag) => ({
    input: { waiting_room_enabled: flag },
    message: 'waiting_room_enabled must be 1 or 0',
    path: 'waiting_room_enabled',
  })),
  {
    input: { waiting_room_message: 5 },
    message: 'waiting_room_message must be a string',
    path: 'waiting_room_message',
  },
  { input: { display_name: 5 }, message: 'display_name must be a string', path: 'display_name' },
  { input: { session_id: 5 }, message: 'session_id must be a string', path: 'session_id' },
  ...['sfu', 5].map((media) => ({ input: { media }, message: 'media must be mesh or null', path: 'media' })),
  { input: { relay_only: 2 }, message: 'relay_only must be 1 or 0', path: 'relay_only' },
  { input: { relay_only: 1 }, message: 'relay_only must be 0: there is no TURN server', path: 'relay_only' },
  { input: { chat_enabled: '1' }, message: 'chat_enabled must be 1 or 0', path: 'chat_enabled' },
  ...[0, 1001, 1.5, '8'].map((max) => ({
    input: { max_participants: max },
    message: 'max_participants must be an integer between 1 and 1000',
    path: 'max_participants',
  })),
  { input: { members_only: 'yes' }, message: 'members_only must be 1 or 0', path: 'members_only' },
  {
    input: { recordings_visible_to: 'everyone' },
    message: 'recordings_visible_to must be one of members, hosts',
    path: 'recordings_visible_to',
  },
  {
    input: { who_may_record: 'nobody' },
    message: 'who_may_record must be one of everyone, members, hosts',
    path: 'who_may_record',
  },
];

export const roomRows: Rows = {
  'rooms.list': {
    who: 'user',
    keys: true,
    input: () => ({ limit: 10, offset: 0 }),
    writes: false,
    wrong: [...wrongPages, ...wrongRanges],
  },
  'rooms.create': {
    who: 'admin',
    keys: true,
    scope: 'write',
    status: 201,
    workspace: 'workspace_id',
    input: ({ workspaceId, number }) => ({
      workspace_id: workspaceId,
      name: `new-${number}`,
      scheduled_at: 1_800_000_000.5,
      accent_color: '#0f0',
      waiting_room_enabled: 1,
      waiting_room_message: 'Soon',
      display_name: 'Stand-up',
      media: 'mesh',
      chat_enabled: 0,
      max_participants: 8,
      members_only: 1,
      recordings_visible_to: 'hosts',
      who_may_record: 'members',
    }),
    writes: true,
    wrong: [
      ...['', 'A', 'a--b', '-a', 'a b', 'a'.repeat(65), 5].map((name) => ({
        input: { name },
        message: 'Invalid room name',
        path: 'name',
      })),
      ...wrongRoomSettings,
    ],
    conflict: {
      input: ({ workspaceId, roomName }) => ({ workspace_id: workspaceId, name: roomName }),
      message: 'Room name already taken',
    },
  },
  'rooms.read': { who: 'room host', keys: true, input: room, writes: false, children: { name: 'Room not found' } },
  'rooms.update': {
    who: 'room host',
    keys: true,
    input: (scene) => ({
      ...room(scene),
      scheduled_at: null,
      waiting_room_enabled: true,
      display_name: 'Stand-up',
      media: 'mesh',
      relay_only: 0,
      chat_enabled: false,
    }),
    writes: true,
    children: { name: 'Room not found' },
    wrong: wrongRoomSettings,
  },
  'rooms.delete': { who: 'room host', keys: true, input: room, writes: true, children: { name: 'Room not found' } },
  'rooms.lock': { who: 'room host', keys: true, input: room, writes: true, children: { name: 'Room not found' } },
  'rooms.unlock': { who: 'room host', keys: true, input: room, writes: false, children: { name: 'Room not found' } },
  'rooms.close': { who: 'room host', keys: true, input: room, writes: true, children: { name: 'Room not found' } },
  'rooms.muteAll': { who: 'room host', keys: true, input: room, writes: true, children: { name: 'Room not found' } },
  'rooms.listInWorkspace': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...wrongPages,
      ...wrongRanges,
      { input: { user_id: 0 }, message: 'user_id must be a positive 32-bit integer', path: 'user_id' },
    ],
  },
  'rooms.readInWorkspace': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), ...room(scene) }),
    writes: false,
    children: { name: 'Room not found' },
  },
  'rooms.setRecordingsVisibility': {
    who: 'admin',
    keys: true,
    scope: 'write',
    input: (scene) => ({ ...inWorkspace(scene), recordings_visible_to: 'hosts' }),
    writes: true,
    wrong: [
      {
        input: { recordings_visible_to: undefined },
        message: 'recordings_visible_to is required',
        path: 'recordings_visible_to',
      },
      {
        input: { recordings_visible_to: 'nobody' },
        message: 'recordings_visible_to must be one of members, hosts',
        path: 'recordings_visible_to',
      },
    ],
  },
  'rooms.readPublic': {
    who: 'anyone',
    keys: true,
    input: ({ roomName }) => ({ roomName }),
    writes: false,
    random: ['logo_url'],
  },
  'rooms.generateName': { who: 'anyone', keys: true, input: () => ({}), writes: false, random: ['name'] },
};

function room({ roomName }: Scene): Input {
  return { name: roomName };
}
