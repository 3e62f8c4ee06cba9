/**
 * The files of `ops/` with a real Prometheus, which scrapes a real server. Debian's package `prometheus` has both
 * programs; without them, these tests are skipped.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { parseSamples } from '../metrics/samples.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { hasPrometheus, prometheusPath, promtoolPath } from '../support/prometheus.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestDatabase } from '../support/test-app.ts';

vi.setConfig({ testTimeout: 5 * MINUTE_MS, hookTimeout: 5 * MINUTE_MS });

type Panel = { title: string; targets: { expr: string }[] };
type RuleGroup = { rules: { name: string; query: string; health: string; lastError?: string }[] };

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const rulesPath = join(root, 'ops/prometheus');
const alerts = readFileSync(join(rulesPath, 'alerts.yml'), 'utf8');
const alertNames = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
const { panels } = JSON.parse(readFileSync(join(root, 'ops/grafana/lynxroom.json'), 'utf8')) as { panels: Panel[] };
const dashboardQueries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));
const guide = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');

/** Metrics of the service, without the suffixes of histograms. */
function metricsIn(text: string): string[] {
  const names = text.match(/\b(?:lynxroom|process)_[a-z_]+\b/g) ?? [];
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, '')))].sort();
}

test('each alert has a unit test, and the guide says what to do', () => {
  const tests = readFileSync(join(rulesPath, 'alerts.test.yml'), 'utf8');
  expect(alertNames.length).toBeGreaterThan(10);
  expect(alertNames.filter((name) => tests.split(`alertname: ${name}`).length !== 3)).toEqual([]);
  expect(alertNames.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

describe.skipIf(!hasPrometheus)('with Prometheus, if it is installed', () => {
  let database: TestDatabase;
  let server: ServerProcess;
  let serverUrl: string;
  let metricsUrl: string;
  let url: string;
  let child: ReturnType<typeof spawn>;

  beforeAll(async () => {
    database = await createDatabase();
    const metricsPort = await freePort();
    const env = { DATABASE_URL: database.url, DATA_DIR: await makeTempDir(), METRICS_PORT: String(metricsPort) };
    server = startServer(env);
    serverUrl = await server.ready;
    metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
    // The example with another target, and with the shortest times that make sense.
    const dir = await makeTempDir();
    await cp(rulesPath, dir, { recursive: true });
    const config = join(dir, 'prometheus.yml');
    const example = await readFile(config, 'utf8');
    await writeFile(
      config,
      example
        .replace(/targets: \[.*\]/, `targets: ['127.0.0.1:${metricsPort}']`)
        .replace(/(scrape|evaluation)_interval: 15s/g, '$1_interval: 1s'),
    );
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    child = spawn(prometheusPath ?? '', [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dir, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=error',
    ]);
    await eventually(() =>
      fetch(`${url}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  });

  afterAll(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    await stopServer(server);
    await database.drop();
  });

  async function query(expr: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]> {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(expr)}`);
    // The API of Prometheus: https://prometheus.io/docs/prometheus/latest/querying/api/
    const body = (await response.json()) as { status: string; error?: string; data: { result: [] } };
    if (body.status !== 'success') throw new Error(`${expr}: ${body.error}`);
    return body.data.result;
  }

  test('a metric of the server moves', async () => {
    const count =
      'sum(lynxroom_http_request_duration_seconds_count{route="/api/dashboard/generate-name",status="200"})';
    const read = async () => Number((await query(count))[0]?.value[1] ?? 0);
    await eventually(async () => (await query('up{job="lynxroom"} == 1')).length === 1);
    expect(await read()).toBe(0);
    for (let call = 0; call < 3; call += 1) await fetch(`${serverUrl}/api/dashboard/generate-name`);
    await eventually(async () => (await read()) === 3);
  });

  test('all rules are loaded and can be evaluated', async () => {
    const rules = await eventually(async () => {
      const response = await fetch(`${url}/api/v1/rules`);
      const { data } = (await response.json()) as { data: { groups: RuleGroup[] } };
      const loaded = data.groups.flatMap((group) => group.rules);
      return loaded.every(({ health }) => health !== 'unknown') && loaded;
    });
    expect(rules.map(({ name }) => name)).toEqual(alertNames);
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
  });

  test('the dashboard and the rules name only metrics that exist, and the guide names all of them', async () => {
    const text = await (await fetch(metricsUrl)).text();
    const scraped = [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name).sort();
    // A metric without a sample would be of no use to a rule.
    const withSamples = metricsIn(
      parseSamples(text)
        .map(({ name }) => name)
        .join('\n'),
    );
    const named = metricsIn(`${alerts}\n${dashboardQueries.map(({ expr }) => expr).join('\n')}`);
    expect(named.length).toBeGreaterThan(15);
    expect(named.filter((name) => !withSamples.includes(name))).toEqual([]);
    expect(scraped.filter((name) => !guide.includes(name))).toEqual([]);
    expect(metricsIn(guide).filter((name) => !scraped.includes(name))).toEqual([]);
  });

  test.each(dashboardQueries)('the query of "$title" works: $expr', async ({ expr }) => {
    await query(expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'));
  });

  test('promtool accepts the configuration, the rules, their tests and the metrics', async () => {
    const check = async (...args: string[]) => (await run(promtoolPath ?? '', args, { cwd: rulesPath })).stdout;
    expect(await check('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
    expect(await check('check', 'rules', 'alerts.yml')).toContain(`SUCCESS: ${alertNames.length} rules`);
    expect(await check('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
    const text = await (await fetch(metricsUrl)).text();
    const linting = run(promtoolPath ?? '', ['check', 'metrics']);
    linting.child.stdin?.end(text);
    expect((await linting).stderr).toBe('');
  });
});

test('the guide shows the file that loads the SDK, and names every file of ops', () => {
  const files = globSync('ops/**/*.*', { cwd: root });
  expect(files.length).toBe(5);
  expect(files.filter((path) => !guide.includes(path))).toEqual([]);
});
