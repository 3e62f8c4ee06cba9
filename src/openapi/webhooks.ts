/** The webhooks in the OpenAPI document: one entry for each event, from the point of view of a receiver. */
import { describedEvents, type EventDescription } from '../events/describe-events.ts';

const GUIDE = `Verify the signature before you process the message: compute the HMAC-SHA256 of the raw body in
lower-case hex, with the whole secret (including \`whsec_\`) as the key, and compare it with \`X-Webhook-Signature\` in
constant time. For 24 hours after a rotation, \`X-Webhook-Signature-Previous\` has the signature with the previous
secret. The headers \`webhook-id\`, \`webhook-timestamp\` and \`webhook-signature\` follow Standard Webhooks, whose
libraries verify them and also protect against replays.

Respond with 2xx within 10 seconds. Any other response, including a redirect, is a failure. A message that fails is sent
again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h. Each delay is extended by a random
amount of up to 20 %. \`Retry-After\` can delay the next attempt by up to an hour. Messages can arrive more than once:
\`webhook-id\` is the same on every attempt. Messages about the same room, member or file arrive in order while no
attempt fails; \`X-Webhook-Sequence\` gives the order of all events of the workspace.`;

type Header = { name: string; description: string; example: string; isOptional?: boolean };

/** The section `webhooks` of the document (OpenAPI 3.1, section 4.8.1), with one entry for each event. */
export const webhookEntries = Object.fromEntries(describedEvents.map((event) => [event.name, toEntry(event)]));

function listHeaders(event: string): Header[] {
  return [
    { name: 'X-Webhook-Event', description: 'The name of the event', example: event },
    {
      name: 'X-Webhook-Timestamp',
      description: 'When the event happened, in ISO 8601; the same as `timestamp` in the body',
      example: '2026-01-01T00:00:00.000Z',
    },
    {
      name: 'X-Webhook-Sequence',
      description:
        'The position of the event in the log of the workspace: later events have higher numbers, with gaps. A test ' +
        'message has none',
      example: '4711',
      isOptional: true,
    },
    {
      name: 'X-Webhook-Signature',
      description: 'HMAC-SHA256 of the body in lower-case hex, with the whole secret as the key',
      example: '6d9ac08b1a3b44bb0ac2a0fdb1c23f2b5d90ba1c4ee9a41d5ecb3d5b1a6b3f52',
    },
    {
      name: 'X-Webhook-Signature-Previous',
      description: 'The same signature with the previous secret, for 24 hours after a rotation',
      example: '0f3d1c5c1f1a7d1c2f7b5bb0ba8fdf1d2ac7b1f8d6bb29b0a5b9c2d6ef1ab334',
      isOptional: true,
    },
    {
      name: 'webhook-id',
      description: 'Identifies the message; the same on every attempt',
      example: 'msg_019b76da9400704c93bd2d1f3c2a7a51',
    },
    { name: 'webhook-timestamp', description: 'When this attempt was made, in Unix seconds', example: '1767225600' },
    {
      name: 'webhook-signature',
      description:
        '`v1,` and the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` in base64. The key is the secret ' +
        'without `whsec_`, decoded from base64. After a rotation there are two values, separated by a space',
      example: 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
  ];
}

function toParameter({ name, description, example, isOptional = false }: Header) {
  return {
    in: 'header',
    name,
    required: !isOptional,
    description,
    schema: { type: 'string' },
    example,
  };
}

/** Returns the operation id of an event: `onRoomCreated` for `room.created`. */
function toOperationId(event: string): string {
  return `on${event.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function toEntry({ name, description, schema, example }: EventDescription) {
  const { $schema: _, ...body } = schema;
  const title = `${toOperationId(name).slice('on'.length)}Event`;
  return {
    post: {
      operationId: toOperationId(name),
      tags: ['Webhooks'],
      summary: `\`${name}\``,
      description: `${description}\n\n${GUIDE}`,
      security: [],
      parameters: listHeaders(name).map(toParameter),
      requestBody: { required: true, content: { 'application/json': { schema: { ...body, title }, example } } },
      responses: {
        '2XX': { description: 'The message is delivered' },
        410: { description: 'The receiver wants no more messages, and the webhook is deactivated' },
        default: { description: 'The attempt failed, and the message is retried' },
      },
    },
  };
}
