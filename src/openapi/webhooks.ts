/** The webhooks that we send, in the OpenAPI document: one entry an event, as a receiver has it. */
import { describedEvents, type EventDescription } from '../events/describe-events.ts';

const VERIFYING = `Verify before you believe: recompute the hex HMAC-SHA256 of the raw body, keyed with the whole secret
(\`whsec_\` included), and compare it with \`X-Webhook-Signature\` in constant time. For 24 hours after a rotation
\`X-Webhook-Signature-Previous\` is the same by the secret before. The headers \`webhook-id\`, \`webhook-timestamp\` and
\`webhook-signature\` are those of Standard Webhooks, whose libraries verify them, against replays too.

Answer 2xx within 10 seconds; anything else, redirects included, is a failure. A message that failed is sent again after
5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h, each with up to 20 % jitter; \`Retry-After\` is honoured up to an
hour. Deliveries may repeat and overtake each other: \`webhook-id\` is the same on every attempt.`;

type Header = { name: string; description: string; example: string; isOptional?: boolean };

/** The section `webhooks` of the document (OpenAPI 3.1, section 4.8.1), by event. */
export const webhookEntries = Object.fromEntries(describedEvents.map((event) => [event.name, toEntry(event)]));

function headersOf(event: string): Header[] {
  return [
    { name: 'X-Webhook-Event', description: 'The event', example: event },
    {
      name: 'X-Webhook-Timestamp',
      description: 'When it happened, ISO 8601: `timestamp` of the body',
      example: '2026-01-01T00:00:00.000Z',
    },
    {
      name: 'X-Webhook-Signature',
      description: 'HMAC-SHA256 of the body in lower-case hex, keyed with the whole secret',
      example: '6d9ac08b1a3b44bb0ac2a0fdb1c23f2b5d90ba1c4ee9a41d5ecb3d5b1a6b3f52',
    },
    {
      name: 'X-Webhook-Signature-Previous',
      description: 'The same by the secret before, for 24 hours after a rotation',
      example: '0f3d1c5c1f1a7d1c2f7b5bb0ba8fdf1d2ac7b1f8d6bb29b0a5b9c2d6ef1ab334',
      isOptional: true,
    },
    {
      name: 'webhook-id',
      description: 'Names the message; the same on every attempt',
      example: 'msg_019b76da9400704c93bd2d1f3c2a7a51',
    },
    { name: 'webhook-timestamp', description: 'When this attempt was made, in Unix seconds', example: '1767225600' },
    {
      name: 'webhook-signature',
      description:
        '`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>`, keyed with the bytes whose base64 follows `whsec_`; after a rotation two of them, separated by a space',
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

/** `room.created` is `onRoomCreated` in generated code. */
function operationIdOf(event: string): string {
  return `on${event.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`;
}

function toEntry({ name, description, schema, example }: EventDescription) {
  const { $schema: _, ...body } = schema;
  return {
    post: {
      operationId: operationIdOf(name),
      tags: ['Webhooks'],
      summary: `\`${name}\``,
      description: `${description}\n\n${VERIFYING}`,
      security: [],
      parameters: headersOf(name).map(toParameter),
      requestBody: { required: true, content: { 'application/json': { schema: body, example } } },
      responses: {
        '2XX': { description: 'Received: the message is delivered' },
        410: { description: 'Gone: the webhook is deactivated' },
        default: { description: 'Failed: sent again by the schedule' },
      },
    },
  };
}
