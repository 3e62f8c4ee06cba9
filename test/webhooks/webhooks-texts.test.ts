/** The numbers, examples and names in the guide and the OpenAPI document match the code. */

import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../src/core/time.ts';
import { describedEvents } from '../../src/events/describe-events.ts';
import { OVERLAP_MS } from '../../src/features/webhooks/secrets.ts';
import { webhookEntries } from '../../src/openapi/webhooks.ts';
import { TIMEOUT_MS } from '../../src/webhook-delivery/http-sender.ts';
import { MAX_RESPONSE_BYTES } from '../../src/webhook-delivery/response-body.ts';
import { DELAYS_MS, JITTER, MAX_RETRY_AFTER_MS } from '../../src/webhook-delivery/retry-schedule.ts';
import { MAX_FAILING_MS } from '../../src/webhook-delivery/webhook-health.ts';
import { ALL_EVENTS } from '../support/all-events.ts';
import { operations } from '../support/api.ts';

const [management = '', ...others] = await Promise.all(
  ['webhook-management', 'webhooks', 'webhook-signatures'].map((name) =>
    readFile(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8'),
  ),
);
const guide = [management, ...others].join('\n');

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

const texts: [string, string][] = [
  ['the guide', onOneLine(guide)],
  ...Object.entries(webhookEntries).map(([event, { post }]): [string, string] => [
    `the entry of ${event}`,
    onOneLine(JSON.stringify(post).replaceAll('\\n', ' ')),
  ]),
];

/** Returns a duration as the texts have it: `5 s`, `30 min`, `2 h`. */
function toText(ms: number): string {
  if (ms % HOUR_MS === 0) return `${ms / HOUR_MS} h`;
  return ms % MINUTE_MS === 0 ? `${ms / MINUTE_MS} min` : `${ms / SECOND_MS} s`;
}

describe.each(texts)('%s', (_, text) => {
  test('states the schedule, its jitter and the limit of Retry-After', () => {
    const [first, ...others] = DELAYS_MS;
    expect(first).toBe(0);
    const delays = others.map(toText);
    expect(text).toContain(
      `again after ${delays.slice(0, -1).join(', ')} and ${delays.at(-1)}. ` +
        `Each delay is extended by a random amount of up to ${JITTER * 100} %`,
    );
    expect(MAX_RETRY_AFTER_MS).toBe(HOUR_MS);
    expect(text).toMatch(/`Retry-After`[^.]* up to an hour/);
  });

  test('states the timeout, and for how long two secrets sign', () => {
    expect(text).toContain(`within ${TIMEOUT_MS / SECOND_MS} seconds`);
    expect(text).toMatch(new RegExp(`[Ff]or ${OVERLAP_MS / HOUR_MS} hours after a rotation`));
  });
});

test('the guide states where responses are cut, and after how many days of failure a webhook is deactivated', () => {
  expect(onOneLine(guide)).toContain(`cut at ${MAX_RESPONSE_BYTES / 1_000} kB`);
  expect(onOneLine(guide)).toContain(`attempts have all failed for ${MAX_FAILING_MS / DAY_MS} days`);
});

test('the table of the guide names all events', () => {
  const rows = guide.split('\n').filter((line) => /^\| `\w+\.\w+`/.test(line));
  const named = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([\w.]+)`/g)].map(([, name]) => name));
  expect(named).toEqual(expect.arrayContaining(ALL_EVENTS));
});

test('every body in the guide matches the catalogue', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true });
  addFormats.default(ajv);
  const blocks = [...guide.matchAll(/^```json no-run=.*\n([\s\S]*?)^```$/gm)].map(([, text]) => JSON.parse(text ?? ''));
  const bodies = blocks.filter((block) => 'event' in block);
  expect(bodies.length).toBeGreaterThan(0);
  for (const body of bodies) {
    const schema = describedEvents.find(({ name }) => name === body.event)?.schema;
    expect(schema, body.event).toBeDefined();
    expect(ajv.validate(schema ?? false, body), ajv.errorsText()).toBe(true);
  }
});

test('the guide lists every operation on one webhook', () => {
  const base = '/api/workspaces/{id}/webhooks/{webhookId}';
  const webhookOperations = operations.filter(({ path }) => path.startsWith(base));
  expect(webhookOperations.length).toBeGreaterThan(8);
  for (const { method, path } of webhookOperations) {
    const rest = path.slice(base.length).replace(/\{(\w+)\}/g, ':$1');
    expect(management).toMatch(new RegExp(`^\\| \`${method}${rest && ` ${rest}`}[\`?]`, 'm'));
  }
});
