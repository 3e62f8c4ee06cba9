/** The liveness probe sees background work that has hung, and only that. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { startPollLoop } from '../../src/jobs/poll-loop.ts';
import { quietLog } from '../support/quiet-log.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => app.close());

// Other test files of this process may leave loops behind, so each test has a name of its own.
async function readHealth(): Promise<{ status: number; work: string[] }> {
  const response = await fetch(`${app.url}/health`);
  // The shape that health.ts sends.
  const body = (await response.json()) as { work?: string[] };
  return { status: response.status, work: body.work ?? [] };
}

test('/health is 503 while a poll has hung for 10 minutes, and no longer when it has ended', async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  const loop = startPollLoop({ name: 'hanging relay', poll: () => promise, log: quietLog });
  expect((await readHealth()).work).not.toContain('hanging relay');
  const start = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => start + 11 * 60_000);
  expect(await readHealth()).toMatchObject({ status: 503, work: expect.arrayContaining(['hanging relay']) });
  resolve(60_000);
  await loop.stop();
  expect((await readHealth()).work).not.toContain('hanging relay');
});
