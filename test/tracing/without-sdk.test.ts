/** Without an OpenTelemetry SDK, nothing is traced. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isTracing, traceHeaders, withSpan } from '../../src/core/tracing.ts';
import { startTestDelivery } from '../support/delivery.ts';
import { startReceiver } from '../support/receiver.ts';
import { startScript } from '../support/script-process.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam } from '../support/world.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('no trace is stored, answered or sent, even if the caller has one', async () => {
  const team = await addTeam(app);
  const receiver = await startReceiver();
  const hook = { name: 'Hook', url: receiver.url, events: ['room.created'] };
  await app.http.post(`${team.path}/webhooks`, team.owner.token, hook);
  const json = { workspace_id: team.id };
  const headers = { traceparent };
  const answer = await app.http.call('POST', '/api/dashboard/rooms', { token: team.owner.token, json, headers });
  expect(answer.headers.get('x-trace-id')).toBeNull();
  const delivery = await startTestDelivery(app);
  const [sent] = await receiver.waitFor(1);
  expect(Object.keys(sent?.headers ?? {})).not.toContain('traceparent');
  await delivery.stop();
  await receiver.close();
  expect(await app.services.db.$queryRaw`select distinct traceparent from events`).toEqual([{ traceparent: null }]);
  expect(await app.services.db.$queryRaw`select traceparent from webhook_messages`).toEqual([{ traceparent: null }]);
  expect(app.logLines.filter((line) => 'trace_id' in line)).toEqual([]);
});

test('work runs as it is', async () => {
  const work = Promise.resolve(7);
  expect(isTracing).toBe(false);
  expect(withSpan('test', {}, () => work)).toBe(work);
  expect(traceHeaders()).toEqual({});
});

test('a process with OTEL_* variables but without an SDK says so', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318', DATABASE_URL: 'postgresql://127.0.0.1:1/none' };
  const server = startScript('src/server.ts', { ...env, PORT: '0' }, () => undefined);
  expect(await server.ended).toBe(1);
  expect(server.output()).toContain('no OpenTelemetry SDK is loaded');
});
