import { ALL_EVENTS } from '../../support/all-events.ts';
import { inWorkspace, type Refusal, type Rows, wrongNames, wrongPages } from '../row.ts';
import type { Scene } from '../scene.ts';
import type { Input } from '../transports.ts';

const URL_FORM = 'url must be a URL that begins with http:// or https:// and names a host';

const wrongWebhooks: readonly Refusal[] = [
  { input: { url: 5 }, message: 'url must be a string', path: 'url' },
  { input: { url: 'ftp://example.com/' }, message: URL_FORM, path: 'url' },
  {
    input: { url: 'https://10.0.0.1/' },
    message: 'url must point to a public address or to this machine',
    path: 'url',
  },
  { input: { events: [] }, message: 'events must name at least one event', path: 'events' },
  { input: { events: 'room.left' }, message: 'events must be an array', path: 'events' },
  { input: { events: ['room.gone'] }, message: `events.0 must be one of ${ALL_EVENTS.join(', ')}`, path: 'events.0' },
];

const INACTIVE = 'The webhook is inactive: activate it first';

/** A timestamp that was sent in milliseconds by mistake. */
const MILLISECONDS = 1_767_225_600_000;
const wrongSince: readonly Refusal[] = [
  ...[undefined, null].map((since) => ({ input: { since }, message: 'since is required', path: 'since' })),
  ...[-1, 1.5, '1767225600', 253_402_300_800, MILLISECONDS, 1e300].map((since) => ({
    input: { since },
    message: 'since must be a Unix timestamp in seconds',
    path: 'since',
  })),
];

const wrongDeliveryIds: readonly Refusal[] = ['msg_019b76da9400704c93bd2d1f3c2a7a51', 1.5].map((deliveryId) => ({
  input: { deliveryId },
  message: 'deliveryId must be the id of a delivery, an integer',
  path: 'deliveryId',
}));

export const webhookRows: Rows = {
  'webhooks.list': { who: 'admin', keys: true, input: inWorkspace, writes: false, wrong: wrongPages },
  'webhooks.events': { who: 'member', keys: true, input: inWorkspace, writes: false },
  'webhooks.catalogue': { who: 'member', keys: true, input: inWorkspace, writes: false },
  'webhooks.create': {
    who: 'admin',
    keys: true,
    input: (scene) => ({
      ...inWorkspace(scene),
      name: 'Alerts',
      url: 'https://example.com/alerts',
      events: ['room.joined'],
    }),
    writes: true,
    wrong: [
      ...wrongNames,
      { input: { url: null }, message: 'url is required', path: 'url' },
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
      ...wrongNames.filter(({ input }) => Object.values(input)[0] != null),
      ...wrongWebhooks,
      ...['yes', 1].map((toggle) => ({ input: { toggle }, message: 'toggle must be a boolean', path: 'toggle' })),
      ...[2, '1'].map((is_active) => ({
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
    wrong: [
      ...wrongPages,
      { input: { outcome: 'lost' }, message: 'outcome must be one of succeeded, failed', path: 'outcome' },
    ],
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
    wrong: [
      ...wrongSince,
      { input: { until: 1.5 }, message: 'until must be a Unix timestamp in seconds', path: 'until' },
      { input: { since: 7, until: 7 }, message: 'until must be after since', path: 'until' },
    ],
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
};

function webhook(scene: Scene): Input {
  return { ...inWorkspace(scene), webhookId: scene.webhookId };
}

function idleWebhook(scene: Scene): Input {
  return { ...inWorkspace(scene), webhookId: scene.idle.webhookId };
}
