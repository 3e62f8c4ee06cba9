/**
 * The headers of responses in the OpenAPI document. `checkAnswer` compares them with those of every response that the
 * tests see, so here are only those that every response must have.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { document } from '../support/api.ts';
import { checkAnswer } from '../support/openapi-check.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { type Holder, listOperations } from './document.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ limits: { perUser: 1, exemptLoopback: false } });
});
afterAll(() => app.close());

const { paths, components } = document as unknown as {
  paths: object;
  components: { headers: Record<string, unknown>; responses: Record<string, Holder> };
};

test('every response has x-request-id, and every 429 and 503 has Retry-After', () => {
  for (const { name, responses } of listOperations({ paths }))
    for (const [status, response] of Object.entries(responses)) {
      const { headers } = response.$ref
        ? (components.responses[response.$ref.split('/').at(-1) ?? ''] ?? {})
        : response;
      expect([name, status, headers]).toEqual([
        name,
        status,
        expect.objectContaining({ 'x-request-id': expect.anything() }),
      ]);
      if (status === '429' || status === '503') expect(headers).toHaveProperty('Retry-After');
    }
});

test('every header but Location is a component that is used', () => {
  const text = JSON.stringify(document);
  const names = Object.keys(components.headers);
  expect(names).toEqual(expect.arrayContaining(['RequestId', 'RateLimitLimit', 'RetryAfter']));
  expect(names.filter((name) => !text.includes(`"#/components/headers/${name}"`))).toEqual([]);
});

test('the limits are sent and documented, for calls that succeed and calls that are rejected', async () => {
  const path = '/api/dashboard/generate-name';
  const [first, second] = [await app.http.get(path), await app.http.get(path)];
  expect([first.status, first.headers.get('ratelimit-limit')]).toEqual([200, '1']);
  expect([second.status, second.headers.get('retry-after')]).toEqual([429, second.headers.get('ratelimit-reset')]);
});

test('an undocumented header fails the check', () => {
  const headers = new Headers({ 'retry-after': '1' });
  const answer = { status: 200, headers, body: { name: 'amber-falcon' } };
  expect(() => checkAnswer('GET', '/api/dashboard/generate-name', answer)).toThrow('headers retry-after');
});
