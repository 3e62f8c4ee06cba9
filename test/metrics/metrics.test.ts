/** What the metrics of an app count. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { startScheduler } from '../../src/jobs/scheduler.ts';
import { sendDueMail } from '../../src/mail/mailer.ts';
import { createSmtpTransport } from '../../src/mail/smtp.ts';
import { StorageUnavailableError } from '../../src/storage/object-store.ts';
import { startTestDelivery } from '../support/delivery.ts';
import { eventually } from '../support/eventually.ts';
import { refusal, startMailServer } from '../support/mail-server.ts';
import { makePdf } from '../support/media.ts';
import { respond, startReceiver } from '../support/receiver.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.ts';
import { addPerson, addTeam, upload } from '../support/world.ts';
import { type Sample, scrape, totalOf } from './samples.ts';

const REQUESTS = 'lynxroom_http_request_duration_seconds_count';

let apps: TestApp[] = [];
afterEach(async () => {
  for (const app of apps.reverse()) await app.close();
  apps = [];
});

async function start(options: TestAppOptions = {}): Promise<TestApp> {
  const app = await startTestApp({ hasMetrics: true, ...options });
  apps.push(app);
  return app;
}

/** Resolves with the samples once the value is reached. The hooks of a response run after its last byte. */
function untilValue(app: TestApp, name: string, labels: Record<string, string>, value: number): Promise<Sample[]> {
  return eventually(async () => {
    const samples = await scrape(app);
    return totalOf(samples, name, labels) === value && samples;
  });
}

function routesOf(samples: readonly Sample[]): string[] {
  return [...new Set(samples.flatMap(({ labels }) => labels.route ?? []))].sort();
}

test('requests are counted by method, route pattern and status', async () => {
  const app = await start();
  const team = await addTeam(app);
  await app.http.get(`${team.path}/labels`, team.member.token);
  await app.http.get(`${team.path}/labels`);
  await app.http.post(`${team.path}/labels`, team.member.token, { name: 'Contracts' });
  await fetch(`${app.url}/no/such/path/${team.owner.token}`);
  const route = '/api/workspaces/:id/labels';
  const samples = await untilValue(app, REQUESTS, { route: 'unmatched', status: '404' }, 1);
  expect(totalOf(samples, REQUESTS, { method: 'GET', route, status: '200' })).toBe(1);
  expect(totalOf(samples, REQUESTS, { method: 'GET', route, status: '401' })).toBe(1);
  expect(totalOf(samples, REQUESTS, { method: 'POST', route, status: '403' })).toBe(1);
  expect(routesOf(samples).filter((one) => one.includes(String(team.id)))).toEqual([]);
});

test('calls of tRPC are counted by procedure, and those of a batch one by one', async () => {
  const app = await start();
  const { token } = await addPerson(app);
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${app.url}/trpc/auth.me`, { headers });
  const batch = encodeURIComponent(JSON.stringify({ 1: { id: 999_999 } }));
  await fetch(`${app.url}/trpc/auth.me,labels.list?batch=1&input=${batch}`, { headers });
  await fetch(`${app.url}/trpc/made.up${Math.random()}`, { headers });
  await fetch(`${app.url}/trpc/auth.me?batch=1`, { headers: { ...headers, 'trpc-accept': 'application/jsonl' } });
  const samples = await untilValue(app, REQUESTS, { route: '/trpc/:names', status: '400' }, 1);
  expect(totalOf(samples, REQUESTS, { method: 'GET', route: '/trpc/auth.me', status: '200' })).toBe(2);
  expect(totalOf(samples, REQUESTS, { route: '/trpc/labels.list', status: '404' })).toBe(1);
  expect(totalOf(samples, REQUESTS, { route: '/trpc/:names', status: '404' })).toBe(1);
  expect(routesOf(samples).filter((route) => route.startsWith('/trpc/'))).toEqual([
    '/trpc/:names',
    '/trpc/auth.me',
    '/trpc/labels.list',
  ]);
});

test('each app has its own metrics', async () => {
  const [first, second] = [await start(), await start()];
  await fetch(`${first.url}/health`);
  await untilValue(first, REQUESTS, { route: '/health' }, 1);
  expect(totalOf(await scrape(second), REQUESTS, { route: '/health' })).toBeUndefined();
});

test('uploads are counted while they arrive, with their bytes', async () => {
  const app = await start();
  const team = await addTeam(app);
  const pdf = Uint8Array.from(makePdf({}));
  const more = Promise.withResolvers<void>();
  const boundary = 'the-boundary';
  async function* body() {
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n` +
        'content-type: application/pdf\r\n\r\n',
    );
    yield Buffer.concat([pdf, Buffer.alloc(100_000)]);
    await more.promise;
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  const answer = app.http.call('POST', `${team.path}/library`, {
    token: team.member.token,
    body: ReadableStream.from(body()),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  await untilValue(app, 'lynxroom_uploads_in_progress', {}, 1);
  more.resolve();
  expect((await answer).status).toBe(200);
  const samples = await scrape(app);
  expect(totalOf(samples, 'lynxroom_uploads_in_progress')).toBe(0);
  expect(totalOf(samples, 'lynxroom_upload_bytes_total')).toBe(pdf.length + 100_000);
  expect(totalOf(samples, 'lynxroom_object_store_duration_seconds_count', { operation: 'put' })).toBe(1);
});

test('failures of the object store are counted, those of the caller are not', async () => {
  let isBroken = false;
  const app = await start({
    wrapStore: (store) => ({
      ...store,
      put: (key, source, options) => {
        source.on('error', () => {});
        if (!isBroken) return store.put(key, source, options);
        source.destroy();
        return Promise.reject(new StorageUnavailableError('The store is down', undefined));
      },
    }),
  });
  const team = await addTeam(app);
  const page = upload(app, team.path, team.member.token, Uint8Array.from(makePdf({})), { type: 'text/html' });
  expect((await page).status).toBe(400);
  isBroken = true;
  expect((await upload(app, team.path, team.member.token)).status).toBe(500);
  const samples = await scrape(app);
  expect(totalOf(samples, 'lynxroom_object_store_errors_total', { operation: 'put' })).toBe(1);
  expect(totalOf(samples, 'lynxroom_object_store_errors_total')).toBe(1);
  expect(totalOf(samples, 'lynxroom_uploads_in_progress')).toBe(0);
});

test('refusals of rate limits are counted by limit', async () => {
  const app = await start({ limits: { publicPerAddress: 1, signInPerEmail: 1 } });
  const call = () => app.http.get('/api/rooms/no-such-room');
  const login = () => app.http.post('/api/auth/login', undefined, { email: 'a@example.com', password: 'not a secret' });
  expect([(await call()).status, (await call()).status, (await call()).status]).toEqual([404, 429, 429]);
  expect([(await login()).status, (await login()).status]).toEqual([401, 429]);
  const samples = await scrape(app);
  expect(totalOf(samples, 'lynxroom_rate_limit_refusals_total', { limit: 'publicPerAddress' })).toBe(2);
  expect(totalOf(samples, 'lynxroom_rate_limit_refusals_total', { limit: 'signInPerEmail' })).toBe(1);
  expect(totalOf(samples, 'lynxroom_rate_limit_refusals_total')).toBe(3);
});

test('the use of the connection pool is shown: in use, idle and waiting', async () => {
  const app = await start({ database: { poolSize: 3 } });
  const done = Promise.withResolvers<void>();
  const hold = () => app.services.db.sql.transact(() => done.promise);
  // The background work gets at most 70 % of the connections: two of three.
  const held = [hold(), hold(), hold()];
  await eventually(async () => app.services.db.poolUse().waiting === 1);
  const samples = await scrape(app);
  expect(totalOf(samples, 'lynxroom_database_pool_connections', { state: 'in_use' })).toBe(2);
  expect(totalOf(samples, 'lynxroom_database_pool_waiting_calls')).toBeGreaterThanOrEqual(1);
  expect(totalOf(samples, 'lynxroom_database_pool_max_connections')).toBe(3);
  done.resolve();
  await Promise.all(held);
  const after = await eventually(async () => {
    const all = await scrape(app);
    return totalOf(all, 'lynxroom_database_pool_connections', { state: 'in_use' }) === 0 && all;
  });
  expect(totalOf(after, 'lynxroom_database_pool_connections', { state: 'idle' })).toBeGreaterThanOrEqual(2);
});

test('the delay of the event loop, CPU time and memory are measured', async () => {
  const app = await start();
  await scrape(app);
  await sleep(50);
  const until = performance.now() + 300;
  while (performance.now() < until);
  await sleep(50);
  const samples = await scrape(app);
  expect(totalOf(samples, 'lynxroom_event_loop_delay_seconds', { percentile: '100' })).toBeGreaterThan(0.2);
  expect(totalOf(samples, 'lynxroom_event_loop_seconds_total', { state: 'active' })).toBeGreaterThan(0);
  expect(totalOf(samples, 'process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(totalOf(samples, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(totalOf(samples, 'lynxroom_build_info', { process: 'server' })).toBe(1);
});

test('events that wait for the relay, waiting attempts by lane, and outcomes of attempts are shown', async () => {
  const app = await start();
  const team = await addTeam(app);
  const receiver = await startReceiver(respond(204));
  const body = { name: 'Hook', url: receiver.url, events: ['room.created'] };
  await app.http.post(`${team.path}/webhooks`, team.owner.token, body);
  await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id });
  await app.services.db.$executeRaw`update events set created_at = created_at - interval '90 s'`;
  const before = await scrape(app);
  expect(totalOf(before, 'lynxroom_relay_waiting_events')).toBeGreaterThanOrEqual(1);
  expect(totalOf(before, 'lynxroom_relay_lag_seconds')).toBeGreaterThanOrEqual(89);
  expect(totalOf(before, 'lynxroom_webhook_queue_jobs')).toBe(0);
  expect(totalOf(before, 'lynxroom_scrape_errors_total', { source: 'webhook_queue' })).toBe(0);

  const delivery = await startTestDelivery(app);
  const ATTEMPTS = 'lynxroom_webhook_attempt_duration_seconds_count';
  await untilValue(app, ATTEMPTS, { outcome: 'success', status: '2xx' }, 1);
  receiver.respondWith(respond(500));
  await app.http.post('/api/dashboard/rooms', team.owner.token, { workspace_id: team.id });
  await untilValue(app, ATTEMPTS, { outcome: 'failure', status: '5xx' }, 1);
  const JOBS = 'lynxroom_webhook_queue_jobs';
  const after = await untilValue(app, JOBS, { lane: 'slow', state: 'scheduled' }, 1);
  expect(totalOf(after, JOBS, { state: 'due' })).toBe(0);
  expect(totalOf(after, 'lynxroom_relay_waiting_events')).toBe(0);
  expect(totalOf(after, 'lynxroom_relay_lag_seconds')).toBe(0);
  expect(totalOf(after, 'lynxroom_webhook_queue_oldest_seconds')).toBe(0);
  await delivery.stop();
  await app.services.db.$executeRaw`
    update webhook_messages set due_at = now() - interval '60 s' where status = 'waiting'`;
  const due = await scrape(app);
  expect(totalOf(due, JOBS, { lane: 'slow', state: 'due' })).toBe(1);
  expect(totalOf(due, 'lynxroom_webhook_queue_oldest_seconds', { lane: 'slow' })).toBeGreaterThanOrEqual(59);
  await receiver.close();
});

test('mail that waits is shown, and attempts to send it are counted by outcome', async () => {
  const app = await start();
  await addTeam(app);
  await app.services.db.$executeRaw`update mail_messages set due_at = now() - interval '90 s'`;
  const before = await scrape(app);
  const WAITING = 'lynxroom_mail_queue_messages';
  expect(totalOf(before, WAITING, { state: 'due' })).toBeGreaterThanOrEqual(4);
  expect(totalOf(before, 'lynxroom_mail_queue_oldest_seconds')).toBeGreaterThanOrEqual(89);
  const [first] = await app.services.db.mailMessage.findMany({ select: { id: true }, orderBy: { id: 'asc' }, take: 1 });
  await app.services.db.mailMessage.updateMany({
    where: { id: first?.id ?? 0 },
    data: { toAddress: 'full@example.com' },
  });
  const server = await startMailServer({
    onRecipient(address) {
      if (address === 'full@example.com') throw refusal(452, '4.2.2 Mailbox full');
    },
  });
  const from = { name: 'Lynxroom', address: 'noreply@lynxroom.example' };
  const transport = createSmtpTransport({ smtpUrl: server.url, from });
  const mail = {
    services: app.services,
    transport,
    source: { baseUrl: app.url, address: from.address },
    onAttempt: app.metrics?.onMail,
  };
  while ((await sendDueMail(mail)) > 0);
  transport.close();
  await server.close();
  const after = await scrape(app);
  const ATTEMPTS = 'lynxroom_mail_attempts_total';
  expect(totalOf(after, ATTEMPTS, { outcome: 'sent' })).toBe((totalOf(before, WAITING) ?? 0) - 1);
  expect([totalOf(after, ATTEMPTS, { outcome: 'retried' }), totalOf(after, ATTEMPTS, { outcome: 'failed' })]).toEqual([
    1, 0,
  ]);
  expect([totalOf(after, WAITING, { state: 'scheduled' }), totalOf(after, WAITING, { state: 'due' })]).toEqual([1, 0]);
  expect(totalOf(after, 'lynxroom_mail_queue_oldest_seconds')).toBe(0);
});

test('runs of scheduled jobs are counted by outcome', async () => {
  const app = await start();
  let runs = 0;
  const schedule = [
    { name: 'test.fails-once', cron: '0 0 1 1 *', atStart: true, run: async () => failFirst() },
    { name: 'test.works', cron: '0 0 1 1 *', atStart: true, run: async () => {} },
  ];
  async function failFirst(): Promise<void> {
    runs += 1;
    if (runs === 1) throw new Error('Not yet');
  }
  const scheduler = await startScheduler({
    ...app.services,
    schedule: app.metrics?.observeJobs(schedule, app.clock) ?? [],
  });
  const RUNS = 'lynxroom_job_runs_total';
  const samples = await untilValue(app, RUNS, { name: 'test.works', outcome: 'success' }, 1);
  expect(totalOf(samples, RUNS, { name: 'test.fails-once', outcome: 'failure' })).toBe(1);
  expect(totalOf(samples, RUNS, { name: 'test.fails-once', outcome: 'success' })).toBe(0);
  expect(totalOf(samples, 'lynxroom_job_last_success_timestamp_seconds', { name: 'test.works' })).toBeGreaterThan(1e9);
  await scheduler.stop();
});

test('a scrape succeeds while the database is down or silent, without the metrics that are read from it', async () => {
  let proxy: Awaited<ReturnType<typeof startTcpProxy>> | undefined;
  const app = await start({
    connectVia: async (url) => {
      proxy = await startTcpProxy(url);
      return proxy.url;
    },
    database: { poolTimeoutMs: 500, statementTimeoutMs: 1_000 },
  });
  expect(totalOf(await scrape(app), 'lynxroom_relay_lag_seconds')).toBe(0);
  for (const cut of ['refuse', 'breakDown'] as const) {
    const before = totalOf(await scrape(app), 'lynxroom_scrape_errors_total', { source: 'relay' }) ?? 0;
    proxy?.[cut]();
    const samples = await scrape(app);
    expect(totalOf(samples, 'lynxroom_relay_lag_seconds')).toBeUndefined();
    expect(totalOf(samples, 'lynxroom_relay_waiting_events')).toBeUndefined();
    expect(totalOf(samples, 'lynxroom_scrape_errors_total', { source: 'relay' })).toBe(before + 1);
    expect(totalOf(samples, 'lynxroom_database_pool_max_connections')).toBe(10);
    proxy?.repair();
    await untilValue(app, 'lynxroom_relay_lag_seconds', {}, 0);
  }
  await proxy?.close();
});
