/** Traces of real processes, which run with the SDK as docs/monitoring.md says. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { eventually } from '../support/eventually.ts';
import { createHttp, type Http } from '../support/http.ts';
import { type Receiver, respond, startReceiver } from '../support/receiver.ts';
import { type ScriptProcess, startCommand } from '../support/script-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';
import { PASSWORD } from '../support/world.ts';
import { type Collector, type ReceivedSpan, startCollector } from './collector.ts';

vi.setConfig({ testTimeout: 5 * MINUTE_MS, hookTimeout: 5 * MINUTE_MS });

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const traceparent = `00-${TRACE_ID}-${CALLER}-01`;
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-01$/;

let database: TestDatabase;
let collector: Collector;
let receiver: Receiver;
let server: ScriptProcess<string>;
let worker: ScriptProcess<true>;
let http: Http;
let token: string;

beforeAll(async () => {
  [database, collector, receiver] = await Promise.all([createDatabase(), startCollector(), startReceiver()]);
  const env = {
    ...collector.env,
    DATABASE_URL: database.url,
    DATA_DIR: await makeTempDir(),
    WEBHOOK_ALLOW_PRIVATE: '1',
    PORT: '0',
  };
  const run = <Ready>(script: string, more: Record<string, string>, find: (output: string) => Ready | undefined) =>
    startCommand([process.execPath, '--import', './ops/tracing.mjs', script], { ...env, ...more }, find);
  server = run('src/server.ts', { RUN_WORKER: '0' }, (output) => /"url":"(http:[^"]+)"/.exec(output)?.[1]);
  http = createHttp(await server.ready);
  const isReady = (output: string) => output.includes('"Worker started"') || undefined;
  worker = run('src/worker.ts', { OTEL_SERVICE_NAME: 'lynxroom-worker' }, isReady);
  await worker.ready;
  const ada = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };
  token = (await http.post('/api/auth/register', undefined, ada)).body.token;
});

afterAll(async () => {
  await server?.end('SIGTERM');
  await worker?.end('SIGTERM');
  await Promise.all([collector.close(), receiver.close()]);
  await database.drop();
});

/** Resolves with the spans of a trace once one has this name. */
function untilSpan(traceId: string, name: string): Promise<ReceivedSpan[]> {
  return eventually(async () => {
    const spans = collector.spans().filter((span) => span.traceId === traceId);
    return spans.some((span) => span.name === name) && spans;
  });
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const span = spans.find((one) => one.name === name);
  if (span === undefined) throw new Error(`No ${name} among ${spans.map((one) => one.name).join(', ')}`);
  return span;
}

test('a request, its statements, its event and the delivery that it causes are one trace', async () => {
  const { workspaces } = (await http.get('/api/workspaces', token)).body;
  const path = `/api/workspaces/${workspaces[0].id}/webhooks`;
  const hook = { name: 'Hook', url: `${receiver.url}/hook?secret=1`, events: ['room.created'] };
  expect((await http.post(path, token, hook)).status).toBe(200);
  const created = await http.call('POST', '/api/dashboard/rooms', { token, json: {}, headers: { traceparent } });
  expect(created.status).toBe(201);
  expect(created.headers.get('x-trace-id')).toBe(TRACE_ID);

  const [sent] = await receiver.waitFor(1);
  const [, traceId, parentId] = TRACEPARENT.exec(String(sent?.headers.traceparent)) ?? [];
  const spans = await untilSpan(TRACE_ID, 'deliver room.created');
  const request = named(spans, 'POST /api/dashboard/rooms');
  const statement = named(spans, 'create-room-in-personal');
  const relayed = named(spans, 'relay room.created');
  const delivered = named(spans, 'deliver room.created');
  expect(request).toMatchObject({ parentSpanId: CALLER, service: 'lynxroom' });
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/api/dashboard/rooms',
    'http.response.status_code': 201,
    'lynxroom.request_id': created.headers.get('x-request-id'),
  });
  expect(statement).toMatchObject({ parentSpanId: request.spanId, attributes: { 'db.system.name': 'postgresql' } });
  expect(relayed).toMatchObject({ parentSpanId: request.spanId, service: 'lynxroom-worker' });
  expect(delivered).toMatchObject({ parentSpanId: relayed.spanId, hasFailed: false });
  expect(delivered.attributes).toMatchObject({ 'http.response.status_code': 200, 'server.address': '127.0.0.1' });
  expect([traceId, parentId]).toEqual([TRACE_ID, delivered.spanId]);
  // Neither credentials nor what callers send.
  const text = JSON.stringify(spans);
  for (const secret of [token, 'secret=1', created.body.room.name]) expect(text).not.toContain(secret);
});

test('a request without a traceparent begins a trace, and its log lines have the ids', async () => {
  const { headers, body } = await http.get('/api/workspaces/999999', token);
  const traceId = headers.get('x-trace-id') ?? '';
  expect(traceId).toMatch(/^[0-9a-f]{32}$/);
  const spans = await untilSpan(traceId, 'GET /api/workspaces/:id');
  expect(named(spans, 'GET /api/workspaces/:id').parentSpanId).toBeUndefined();
  const lines = await eventually(async () => {
    const found = server
      .output()
      .split('\n')
      .filter((line) => line.includes(traceId));
    return found.length > 0 && found;
  });
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: 'request', reqId: body.request_id, status: 404 },
  ]);
});

test('each call of a tRPC batch has a span, with its statements as children', async () => {
  const answer = await fetch(`${await server.ready}/trpc/auth.me,workspaces.list?batch=1&input={}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const traceId = answer.headers.get('x-trace-id') ?? '';
  const spans = await untilSpan(traceId, 'GET /trpc/:names');
  const [request, me] = [named(spans, 'GET /trpc/:names'), named(spans, 'auth.me')];
  expect(me.parentSpanId).toBe(request.spanId);
  expect(named(spans, 'workspaces.list').parentSpanId).toBe(request.spanId);
  expect(spans.filter(({ parentSpanId }) => parentSpanId === me.spanId)).not.toEqual([]);
});

test('a failed attempt fails its span, a scheduled job has a trace, and polls have none', async () => {
  receiver.respondWith(respond(500));
  const { headers } = await http.post('/api/dashboard/rooms', token, {});
  const spans = await untilSpan(headers.get('x-trace-id') ?? '', 'deliver room.created');
  expect(named(spans, 'deliver room.created').hasFailed).toBe(true);
  const job = await eventually(async () => collector.spans().find(({ name }) => name === 'job library.retention'));
  expect(job.parentSpanId).toBeUndefined();
  const roots = collector.spans().filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(roots.filter(({ name }) => !/^(?:job |GET |POST )/.test(name))).toEqual([]);
});

test('the last spans are sent before the process exits', async () => {
  const { headers } = await http.get('/api/workspaces', token);
  const traceId = headers.get('x-trace-id') ?? '';
  expect(await server.end('SIGTERM')).toBe(0);
  expect(collector.spans().filter((span) => span.traceId === traceId)).not.toEqual([]);
});
