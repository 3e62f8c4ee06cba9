/** `/metrics` of real processes: on a port of its own, off by default, and open until the process has drained. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { eventually } from '../support/eventually.ts';
import { startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { parseSamples, totalOf } from './samples.ts';

vi.setConfig({ testTimeout: 5 * MINUTE_MS, hookTimeout: 5 * MINUTE_MS });

const METRICS_URL = /"metricsUrl":"(http:[^"]+)"/;

let database: TestDatabase;
let env: Record<string, string>;
beforeEach(async () => {
  database = await createDatabase();
  env = { DATABASE_URL: database.url, DATA_DIR: await makeTempDir(), LOG_LEVEL: 'info' };
});
afterEach(() => database.drop());

function findMetricsUrl(output: string): string {
  const url = METRICS_URL.exec(output)?.[1];
  if (url === undefined) throw new Error(`No URL of metrics in:\n${output}`);
  return url;
}

test('a server serves /metrics on its own port, and only there, until its last request has ended', async () => {
  const server = startServer({ ...env, METRICS_PORT: '0' });
  const url = await server.ready;
  const metricsUrl = findMetricsUrl(server.output());
  expect(new URL(metricsUrl).hostname).toBe('127.0.0.1');
  const response = await fetch(metricsUrl);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(totalOf(parseSamples(await response.text()), 'lynxroom_build_info', { process: 'server' })).toBe(1);
  expect((await fetch(`${url}/metrics`)).status).toBe(404);
  expect((await fetch(new URL('/health', metricsUrl))).status).toBe(404);
  expect((await fetch(metricsUrl, { method: 'POST' })).status).toBe(405);

  // A request whose body has not ended keeps the server draining.
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n');
  socket.write('content-length: 2\r\n\r\n{');
  await eventually(async () => (await fetch(`${url}/health`)).ok);
  const ended = stopServer(server);
  await eventually(() =>
    fetch(`${url}/health`).then(
      () => false,
      () => true,
    ),
  );
  expect((await fetch(metricsUrl)).status).toBe(200);
  socket.write('}');
  await once(socket, 'data');
  socket.destroy();
  expect(await ended).toBe(0);
  await expect(fetch(metricsUrl)).rejects.toThrow('fetch failed');
});

test('a worker serves the outcomes of its jobs; without METRICS_PORT there is no server of metrics', async () => {
  const worker = startWorkerProcess({ ...env, METRICS_PORT: '0' });
  await worker.ready;
  const url = findMetricsUrl(worker.output());
  const samples = await eventually(async () => {
    const all = parseSamples(await (await fetch(url)).text());
    return totalOf(all, 'lynxroom_job_runs_total', { name: 'library.retention', outcome: 'success' }) === 1 && all;
  });
  expect(totalOf(samples, 'lynxroom_build_info', { process: 'worker' })).toBe(1);
  expect(totalOf(samples, 'lynxroom_webhook_queue_jobs', { lane: 'fast' })).toBe(0);
  expect(await worker.end('SIGTERM')).toBe(0);

  const plain = startWorkerProcess(env);
  await plain.ready;
  expect(plain.output()).not.toContain('/metrics');
  expect(await plain.end('SIGTERM')).toBe(0);
});

test('a busy port ends the start with one line that names the setting', async () => {
  const server = startServer({ ...env, METRICS_PORT: new URL(database.url).port });
  expect(await server.ended).toBe(1);
  const { port } = new URL(database.url);
  expect(server.messages()).toEqual([`Port ${port} is in use: set METRICS_PORT to another one`]);
});
