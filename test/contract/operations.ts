/**
 * Every operation of the router with what it takes, who may call it and how it refuses. The tests walk this table, so
 * that an operation without a row is seen.
 */
import { PASSWORD } from '../support/world.ts';
import { type Refusal, type Row, wrongColors, wrongNames, wrongPages } from './row.ts';
import { bookingRows } from './rows/booking.ts';
import { connectionRows } from './rows/connections.ts';
import { contactRows } from './rows/contacts.ts';
import { participantRows } from './rows/participants.ts';
import { recordingRows } from './rows/recordings.ts';
import type { Scene, Someone, World } from './scene.ts';
import type { Input } from './transports.ts';

function id({ workspaceId }: Scene): Input {
  return { id: workspaceId };
}
function item(scene: Scene): Input {
  return { ...id(scene), itemId: scene.itemId };
}
function room({ roomName }: Scene): Input {
  return { name: roomName };
}
function key(scene: Scene): Input {
  return { ...id(scene), keyId: scene.keyId };
}
function webhook(scene: Scene): Input {
  return { ...id(scene), webhookId: scene.webhookId };
}
function idleWebhook(scene: Scene): Input {
  return { ...id(scene), webhookId: scene.idle.webhookId };
}

const wrongRoomSettings: readonly Refusal[] = [
  { input: { scheduled_at: 'soon' }, message: 'scheduled_at must be a number', path: 'scheduled_at' },
  ...wrongColors.map(({ input }) => ({
    input: { accent_color: input.color },
    message: 'accent_color must be a hex color such as #6366f1',
    path: 'accent_color',
  })),
  ...[2, -1, '1', null].map((flag) => ({
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
];
const URL_FORM = 'url must be a URL that begins with http:// or https:// and names a host';
const EVENTS =
  'room.created, room.joined, room.left, recording.started, recording.completed, member.joined, member.left, library_item.uploaded, library_item.deleted';
const wrongWebhooks: readonly Refusal[] = [
  { input: { url: null }, message: 'url is required', path: 'url' },
  { input: { url: 5 }, message: 'url must be a string', path: 'url' },
  { input: { url: 'ftp://example.com/' }, message: URL_FORM, path: 'url' },
  {
    input: { url: 'https://10.0.0.1/' },
    message: 'url must point to a public address or to this machine',
    path: 'url',
  },
  { input: { events: [] }, message: 'events must name at least one event', path: 'events' },
  { input: { events: 'room.left' }, message: 'events must be an array', path: 'events' },
  { input: { events: ['room.gone'] }, message: `events.0 must be one of ${EVENTS}`, path: 'events.0' },
];
const INACTIVE = 'The webhook is inactive: activate it first';
const MILLISECONDS = 1_767_225_600_000;
const wrongSince: readonly Refusal[] = [
  ...[undefined, null].map((since) => ({ input: { since }, message: 'since is required', path: 'since' })),
  ...[-1, 1.5, '1767225600', 253_402_300_800, MILLISECONDS, 1e300].map((since) => ({
    input: { since },
    message: 'since must be a Unix timestamp in seconds',
    path: 'since',
  })),
];
const wrongDeliveryIds: readonly Refusal[] = ['msg_019b76da9400704c93bd2d1f3c2a7a51', 0, 1.5, 2 ** 53].map(
  (deliveryId) => ({
    input: { deliveryId },
    message: 'deliveryId must be the id of a delivery, an integer between 1 and 9007199254740991',
    path: 'deliveryId',
  }),
);
function alone(world: World): Promise<Someone> {
  return world.addSomeone('Solo');
}

export const rows: Record<string, Row> = {
  'auth.register': {
    who: 'anyone',
    keys: true,
    input: ({ number }) => ({ name: 'New', email: `new${number}@example.com`, password: PASSWORD }),
    writes: true,
    wrong: [
      ...wrongNames,
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { password: 'short' }, message: 'password must have 8 to 200 characters', path: 'password' },
      { input: { password: undefined }, message: 'password is required', path: 'password' },
    ],
    conflict: {
      input: ({ owner }) => ({ name: 'Twin', email: owner.email, password: PASSWORD }),
      message: 'An account with this email address already exists',
    },
  },
  'auth.login': {
    who: 'anyone',
    keys: true,
    input: ({ member }) => ({ email: member.email, password: PASSWORD }),
    writes: true,
    wrong: [
      { input: { email: undefined }, message: 'email is required', path: 'email' },
      { input: { email: 5 }, message: 'email must be a string', path: 'email' },
      { input: { password: null }, message: 'password must be a string', path: 'password' },
    ],
  },
  'auth.logout': { who: 'user', keys: false, input: () => ({}), writes: true, caller: alone },
  'auth.me': { who: 'user', keys: false, input: () => ({}), writes: false },
  'auth.updateMe': {
    who: 'user',
    keys: false,
    input: () => ({ name: 'Renamed' }),
    writes: true,
    caller: alone,
    wrong: [
      ...wrongNames.slice(1),
      {
        input: { password: 'another password' },
        message: 'current_password is required to set a new password',
        path: 'current_password',
      },
      {
        input: { password: 'another password', current_password: 'not the current one' },
        message: 'current_password is wrong',
        path: 'current_password',
      },
      {
        input: { password: '1234567', current_password: PASSWORD },
        message: 'password must have 8 to 200 characters',
        path: 'password',
      },
    ],
  },
  'auth.deleteMe': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    caller: alone,
    conflict: {
      input: () => ({}),
      message: 'Transfer or delete the workspaces that you own with other members first',
    },
  },

  'workspaces.list': { who: 'user', keys: true, input: () => ({}), writes: false },
  'workspaces.create': {
    who: 'user',
    keys: false,
    input: () => ({ name: 'Crème brûlée' }),
    writes: true,
    wrong: wrongNames,
  },
  'workspaces.read': { who: 'member', keys: true, input: id, writes: false },
  'workspaces.rename': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...id(scene), name: 'Renamed' }),
    writes: true,
    wrong: wrongNames,
  },
  'workspaces.delete': { who: 'owner', keys: true, input: id, writes: true },
  'workspaces.invite': { who: 'admin', keys: true, input: id, writes: false },
  'workspaces.revokeInvite': { who: 'admin', keys: true, input: id, writes: true },
  'workspaces.join': {
    who: 'user',
    keys: false,
    input: ({ inviteToken }) => ({ token: inviteToken }),
    writes: true,
    caller: alone,
  },

  'members.changeRole': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...id(scene), userId: scene.member.id, role: 'admin' }),
    writes: true,
    children: { userId: 'Member not found' },
    wrong: [
      { input: { role: undefined }, message: 'role is required', path: 'role' },
      { input: { role: 'Owner' }, message: 'role must be one of owner, admin, member', path: 'role' },
      { input: { role: ['admin'] }, message: 'role must be one of owner, admin, member', path: 'role' },
    ],
  },
  'members.remove': {
    who: 'member',
    keys: true,
    // The owner cannot leave: he removes the admin.
    input: (scene, by) => ({ ...id(scene), userId: by.id === scene.owner.id ? scene.admin.id : by.id }),
    writes: true,
    children: { userId: 'Member not found' },
  },

  'labels.list': { who: 'member', keys: true, input: id, writes: false },
  'labels.create': {
    who: 'admin',
    keys: true,
    forbidden: 'Only owners and admins can create labels',
    input: (scene) => ({ ...id(scene), name: 'Green', color: '#0f0' }),
    writes: true,
    wrong: [...wrongNames, ...wrongColors],
    conflict: {
      input: (scene) => ({ ...id(scene), name: 'Blue' }),
      message: 'A label with this name already exists',
    },
  },
  'labels.update': {
    who: 'admin',
    keys: true,
    forbidden: 'Only owners and admins can update labels',
    input: (scene) => ({ ...id(scene), labelId: scene.redId, name: 'Crimson', color: '#DC143C' }),
    writes: true,
    children: { labelId: 'Label not found' },
    wrong: [...wrongNames.slice(1), ...wrongColors],
    conflict: {
      input: (scene) => ({ ...id(scene), labelId: scene.redId, name: 'Blue' }),
      message: 'A label with this name already exists',
    },
  },
  'labels.delete': {
    who: 'admin',
    keys: true,
    forbidden: 'Only owners and admins can delete labels',
    input: (scene) => ({ ...id(scene), labelId: scene.redId }),
    writes: true,
    children: { labelId: 'Label not found' },
  },

  'library.list': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...id(scene), search: 'CONTRACT', sort: 'name', order: 'asc', limit: 10, offset: 0 }),
    writes: false,
    wrong: [
      ...[0, 101, -1, 1.5, 'abc', '1e1', ''].map((limit) => ({
        input: { limit },
        message: 'limit must be an integer between 1 and 100',
        path: 'limit',
      })),
      { input: { offset: -1 }, message: 'offset must be an integer between 0 and 2147483647', path: 'offset' },
      { input: { sort: 'colour' }, message: 'sort must be one of date, name, size', path: 'sort' },
      { input: { order: 'DESC' }, message: 'order must be one of asc, desc', path: 'order' },
      { input: { label: 0 }, message: 'label must be a positive 32-bit integer', path: 'label' },
      { input: { search: 'x'.repeat(201) }, message: 'search must have at most 200 characters', path: 'search' },
    ],
  },
  'library.read': { who: 'member', keys: true, input: item, writes: false, children: { itemId: 'Item not found' } },
  'library.download': { who: 'member', keys: true, input: item, writes: false, children: { itemId: 'Item not found' } },
  'library.update': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), name: 'Renamed.pdf', description: 'Two\nlines' }),
    writes: true,
    children: { itemId: 'Item not found' },
    wrong: [
      { input: { name: '' }, message: 'Name cannot be empty', path: 'name' },
      { input: { name: '  ' }, message: 'Name cannot be empty', path: 'name' },
      { input: { name: null }, message: 'name must be a string', path: 'name' },
      { input: { description: 7 }, message: 'description must be a string', path: 'description' },
    ],
  },
  'library.delete': { who: 'member', keys: true, input: item, writes: true, children: { itemId: 'Item not found' } },
  'library.assignLabel': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), labelId: scene.blueId }),
    writes: true,
    children: { itemId: 'Item not found', labelId: 'Label not found' },
    wrong: [
      { input: { labelId: undefined }, message: 'labelId is required', path: 'labelId' },
      { input: { labelId: null }, message: 'labelId is required', path: 'labelId' },
      { input: { labelId: true }, message: 'labelId must be a positive 32-bit integer', path: 'labelId' },
      { input: { labelId: '1' }, message: 'labelId must be a positive 32-bit integer', path: 'labelId' },
    ],
  },
  'library.unassignLabel': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...item(scene), labelId: scene.redId }),
    writes: true,
    children: { itemId: 'Item not found', labelId: 'Label not found' },
  },

  'rooms.list': { who: 'user', keys: true, input: () => ({ limit: 10, offset: 0 }), writes: false, wrong: wrongPages },
  'rooms.create': {
    who: 'admin',
    keys: true,
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
    }),
    writes: true,
    wrong: [
      ...['', 'A', 'a', 'a--b', '-a', 'a b', 'a'.repeat(65), null, 5].map((name) => ({
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
  'rooms.read': { who: 'room owner', keys: true, input: room, writes: false, children: { name: 'Room not found' } },
  'rooms.update': {
    who: 'room owner',
    keys: true,
    input: (scene) => ({ ...room(scene), scheduled_at: null, waiting_room_enabled: true, display_name: 'Stand-up' }),
    writes: true,
    children: { name: 'Room not found' },
    wrong: wrongRoomSettings,
  },
  'rooms.delete': { who: 'room owner', keys: true, input: room, writes: true, children: { name: 'Room not found' } },
  'rooms.listInWorkspace': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...id(scene), limit: 10, offset: 0 }),
    writes: false,
    wrong: wrongPages,
  },
  'rooms.readPublic': { who: 'anyone', keys: true, input: ({ roomName }) => ({ roomName }), writes: false },
  'rooms.generateName': { who: 'anyone', keys: true, input: () => ({}), writes: false, random: ['name'] },

  'recordings.list': {
    who: 'user',
    keys: true,
    input: () => ({ limit: 10, offset: 0 }),
    writes: false,
    wrong: wrongPages,
  },
  'recordings.listInRoom': {
    who: 'room owner',
    keys: true,
    input: (scene) => ({ ...room(scene), limit: 10, offset: 0 }),
    writes: false,
    children: { name: 'Room not found' },
    wrong: wrongPages,
  },
  'recordings.download': {
    who: 'room owner',
    keys: true,
    input: ({ recordingId }) => ({ recordingId }),
    writes: false,
    children: { recordingId: 'Recording not found' },
  },

  'retention.read': { who: 'owner', keys: true, input: id, writes: false },
  'retention.set': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...id(scene), media_retention_days: 30 }),
    writes: true,
    wrong: [8, 0, -7, 7.5, '7', true, undefined].map((days) => ({
      input: { media_retention_days: days },
      message: 'media_retention_days must be one of 7, 30, 60, 90, 180, 365 or null',
      path: 'media_retention_days',
    })),
  },

  'apiKeys.list': { who: 'admin', keys: true, input: id, writes: false },
  'apiKeys.create': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...id(scene), name: 'Another' }),
    writes: true,
    wrong: wrongNames,
  },
  'apiKeys.toggle': {
    who: 'admin',
    keys: false,
    input: key,
    writes: true,
    children: { keyId: 'API key not found' },
    wrong: [2, '1', null].map((flag) => ({
      input: { is_active: flag },
      message: 'is_active must be one of 0, 1, false, true',
      path: 'is_active',
    })),
  },
  'apiKeys.delete': {
    who: 'owner',
    keys: false,
    input: key,
    writes: true,
    children: { keyId: 'API key not found' },
  },

  'webhooks.list': { who: 'admin', keys: true, input: id, writes: false },
  'webhooks.events': { who: 'member', keys: true, input: id, writes: false },
  'webhooks.catalogue': { who: 'member', keys: true, input: id, writes: false },
  'webhooks.create': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...id(scene), name: 'Alerts', url: 'https://example.com/alerts', events: ['room.joined'] }),
    writes: true,
    wrong: [
      ...wrongNames,
      ...wrongWebhooks,
      { input: { url: undefined }, message: 'url is required', path: 'url' },
      { input: { events: undefined }, message: 'events is required', path: 'events' },
    ],
  },
  'webhooks.update': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...webhook(scene), toggle: true, name: 'Renamed' }),
    writes: true,
    children: { webhookId: 'Webhook not found' },
    wrong: [
      ...wrongNames.slice(1),
      ...wrongWebhooks,
      ...['yes', 1, null].map((toggle) => ({ input: { toggle }, message: 'toggle must be a boolean', path: 'toggle' })),
      ...[2, '1', null].map((is_active) => ({
        input: { is_active },
        message: 'is_active must be one of 0, 1, false, true',
        path: 'is_active',
      })),
      { input: { is_active: 1 }, message: 'Send either toggle or is_active', path: 'is_active' },
    ],
  },
  'webhooks.delete': {
    who: 'owner',
    keys: true,
    input: webhook,
    writes: true,
    children: { webhookId: 'Webhook not found' },
  },
  'webhooks.deliveries': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...webhook(scene), limit: 10, offset: 0 }),
    writes: false,
    children: { webhookId: 'Webhook not found' },
    wrong: wrongPages,
  },
  'webhooks.rotateSecret': {
    who: 'admin',
    keys: true,
    input: webhook,
    writes: true,
    children: { webhookId: 'Webhook not found' },
  },
  'webhooks.test': {
    who: 'admin',
    keys: true,
    input: webhook,
    writes: true,
    random: ['id'],
    children: { webhookId: 'Webhook not found' },
    conflict: { input: idleWebhook, message: INACTIVE },
  },
  'webhooks.resend': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...webhook(scene), deliveryId: scene.deliveryId }),
    writes: true,
    children: { webhookId: 'Webhook not found', deliveryId: 'Delivery not found' },
    wrong: wrongDeliveryIds,
    conflict: {
      input: (scene) => ({ ...idleWebhook(scene), deliveryId: scene.idle.deliveryId }),
      message: INACTIVE,
    },
  },
  'webhooks.resendFailed': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...webhook(scene), since: 0 }),
    writes: true,
    children: { webhookId: 'Webhook not found' },
    wrong: wrongSince,
    conflict: { input: (scene) => ({ ...idleWebhook(scene), since: 0 }), message: INACTIVE },
  },
  'webhooks.messages': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...webhook(scene), status: 'cancelled', limit: 10, offset: 0 }),
    writes: false,
    children: { webhookId: 'Webhook not found' },
    wrong: [
      ...wrongPages,
      {
        input: { status: 'lost' },
        message: 'status must be one of waiting, delivered, failed, cancelled',
        path: 'status',
      },
    ],
  },
  'webhooks.resendMessage': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...webhook(scene), messageId: scene.messageId }),
    writes: true,
    children: { webhookId: 'Webhook not found', messageId: 'Message not found' },
    conflict: {
      input: (scene) => ({ ...idleWebhook(scene), messageId: scene.idle.messageId }),
      message: INACTIVE,
    },
  },
  'webhooks.message': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...webhook(scene), messageId: scene.messageId }),
    writes: false,
    children: { webhookId: 'Webhook not found', messageId: 'Message not found' },
  },

  'analytics.read': {
    who: 'member',
    keys: true,
    workspace: 'workspaceId',
    input: ({ workspaceId }) => ({ workspaceId }),
    writes: false,
  },
  ...participantRows,
  ...recordingRows,
  ...contactRows,
  ...bookingRows,
  ...connectionRows,
};
