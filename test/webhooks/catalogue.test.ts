/** The catalogue of events: complete, as the bodies that are sent, and the same in the OpenAPI document. */

import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, expect, expectTypeOf, test } from 'vitest';
import type { Outputs, WebhookBody } from '../../packages/client/src/index.ts';
import { toBody } from '../../src/events/envelope.ts';
import { rewriteSchemas } from '../../src/openapi/schemas.ts';
import { ALL_EVENTS } from '../support/all-events.ts';
import { document } from '../support/api.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team, upload } from '../support/world.ts';

type Described = { name: string; description: string; schema: object; example: { event: string; data: object } };

let app: TestApp;
let team: Team;
let events: Described[];
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
  const { status, body } = await app.http.get(`${team.path}/webhooks/catalogue`, team.member.token);
  expect(status).toBe(200);
  events = body.events;
});
afterAll(() => app.close());

// Strict: a keyword that is not of draft 2020-12 is an error.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
addFormats.default(ajv);

function isValid(name: string, body: unknown): boolean {
  const schema = events.find((event) => event.name === name)?.schema;
  if (schema === undefined) throw new Error(`No event ${name}`);
  return ajv.validate(schema, body);
}

test('lists all events and the test event, each with a description', () => {
  expect(events.map(({ name }) => name)).toEqual([...ALL_EVENTS, 'webhook.test']);
  for (const event of events) {
    expect(Object.keys(event)).toEqual(['name', 'description', 'schema', 'example']);
    expect(event.description).toMatch(/\.$/);
    expect(event.schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema' });
  }
});

test('every example matches its own schema only; a body may have more fields, and not fewer', () => {
  for (const { name, example } of events) {
    expect(isValid(name, example), `${name}: ${ajv.errorsText()}`).toBe(true);
    for (const other of events.filter((event) => event.name !== name)) expect(isValid(other.name, example)).toBe(false);
    expect(isValid(name, { ...example, more: 1, data: { ...example.data, more: 1 } })).toBe(true);
    expect(isValid(name, { ...example, timestamp: 'today' })).toBe(false);
    for (const field of Object.keys(example.data))
      expect(isValid(name, { ...example, data: { ...example.data, [field]: undefined } }), `${name} ${field}`).toBe(
        false,
      );
  }
});

test('the events that operations cause match their schemas', async () => {
  const { owner, member, path, id } = team;
  const { body } = await upload(app, path, member.token);
  await app.http.delete(`${path}/library/${body.item.id}`, member.token);
  await app.http.post('/api/dashboard/rooms', owner.token, { name: 'catalogue-room', workspace_id: id });
  const logged = await app.services.db.event.findMany({ where: { workspaceId: id } });
  expect(new Set(logged.map(({ type }) => type)).size).toBeGreaterThanOrEqual(4);
  for (const { type, data, createdAt } of logged) {
    const sent = JSON.parse(toBody({ event: type, timestamp: createdAt, data }));
    expect(Object.keys(sent)).toEqual(['event', 'timestamp', 'data']);
    expect(sent.timestamp).toBe(createdAt.toISOString());
    expect(isValid(type, sent), `${type}: ${ajv.errorsText()}`).toBe(true);
  }
});

/** The name of an event's body in the document: `RoomCreatedEvent` for `room.created`. */
function componentOf(event: string): string {
  return `${event.replace(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

test('the OpenAPI document has an entry for each event, with the same schema and every header', () => {
  // The cast gives plain JSON the type that it should have.
  const { webhooks = {} } = document as unknown as {
    webhooks?: Record<string, { post: { parameters: { name: string }[]; requestBody: { content: object } } }>;
  };
  expect(Object.keys(webhooks)).toEqual(events.map(({ name }) => name));
  const { schemas } = rewriteSchemas({
    components: { schemas: Object.fromEntries(events.map(({ name, schema }) => [componentOf(name), schema])) },
  }).components;
  for (const { name, example } of events) {
    const { $schema: _, ...body } = schemas[componentOf(name)] as Record<string, unknown>;
    const schema = { $ref: `#/components/schemas/${componentOf(name)}` };
    expect(webhooks[name]?.post.requestBody.content).toEqual({ 'application/json': { schema, example } });
    expect(document.components?.schemas?.[componentOf(name)]).toEqual(body);
    expect(webhooks[name]?.post.parameters.map((parameter) => parameter.name)).toEqual([
      'X-Webhook-Event',
      'X-Webhook-Timestamp',
      'X-Webhook-Sequence',
      'X-Webhook-Signature',
      'X-Webhook-Signature-Previous',
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
  }
});

test('the OpenAPI document lists the events wherever a response has one', () => {
  const { components } = document as unknown as {
    components: { schemas: Record<string, { properties: Record<string, unknown> }> };
  };
  const named = events.map(({ name }) => name);
  for (const [schema, field] of [
    ['WebhookDelivery', 'event'],
    ['WebhookMessage', 'event'],
    ['WebhookMessageWithAttempts', 'event'],
    ['WebhookEventDescription', 'name'],
  ] as const)
    expect(components.schemas[schema]?.properties[field], schema).toEqual({ type: 'string', enum: named });
});

test('the client has a type for each body, which its event determines', () => {
  expectTypeOf<WebhookBody['event']>().toEqualTypeOf<Outputs['webhooks']['message']['message']['event']>();
  type Left = Extract<WebhookBody, { event: 'room.left' }>['data'];
  expectTypeOf<Left['left_at']>().toEqualTypeOf<number>();
  const written: WebhookBody = {
    event: 'member.left',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { workspace_id: 7, workspace_name: 'Design', user_id: 3, user_name: 'Mia', reason: 'removed' },
  };
  const body: WebhookBody = JSON.parse(JSON.stringify(written));
  expect(body.event === 'member.left' ? body.data.reason : null).toBe('removed');
});
