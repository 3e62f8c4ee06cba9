/** `npm run demo`, with and without a running server. */
import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { MINUTE_MS } from '../../src/core/time.ts';
import { startServer, stopServer } from '../support/server-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

let dataDir: string;
beforeEach(async () => {
  dataDir = await makeTempDir();
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function runDemo(): Promise<string> {
  const env = { ...process.env, DATA_DIR: dataDir };
  const { stdout } = await run(process.execPath, ['scripts/demo/demo.ts'], { cwd: root, env });
  return stdout;
}

test('the demo fills a workspace once, and the server returns its data', { timeout: 10 * MINUTE_MS }, async () => {
  const counts =
    /(\d+) rooms \(4 of the team, (\d+) of bookings\), \d+ visits, (\d+) recordings, (\d+) bookings, (\d+) files\n/;
  const filled = await runDemo();
  expect(filled).toMatch(new RegExp(`^Filled workspace \\d+, Acme Studio, with 30 days of activity: ${counts.source}`));
  expect(filled).toContain('Start the server, and open it in a browser, signed in (once, within ten minutes)');
  const [rooms, booked, recordings, bookings, files] = counts.exec(filled)?.slice(1).map(Number) ?? [];
  expect(rooms).toBe(4 + (booked ?? 0));
  const server = startServer({ DATA_DIR: dataDir });
  try {
    await server.ready;
    const again = await runDemo();
    expect(again).toMatch(/^Workspace \d+, Acme Studio, already exists\nOpen it in a browser/);
    const [, url, token = '', workspace] = /(http:\S+)\/open#token=(\S+)&workspace=(\d+)\n/.exec(again) ?? [];
    expect(url).toBe(await server.ready);
    const opened = await fetch(`${url}/open`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: token,
    });
    const headers = { cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '' };
    const read = await (await fetch(`${url}/api/workspaces/${workspace}`, { headers })).json();
    expect(read).toMatchObject({ workspace: { name: 'Acme Studio', role: 'owner' } });
    // The server listens on any free port here, which the file could not know when it was written.
    const calls =
      "npm run -s lynxroom -- api /analytics --json && npm run -s lynxroom -- api '/library?limit=1' --json";
    const shell = `. ${dataDir}/demo-month.env && export LYNXROOM_URL=${await server.ready} && ${calls}`;
    const { stdout } = await run('bash', ['-euc', shell], { cwd: root });
    const [analytics, library] = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    // It says what the pages say.
    expect(analytics.kpis).toMatchObject({ rooms, recordings, bookings });
    expect(library.total).toBe(files);
    expect(analytics.kpis.recordings).toBeGreaterThan(5);
    expect(analytics.kpis.recordingDuration).toBeGreaterThan(3_600);
    expect(analytics.activityTimeline.length).toBeGreaterThan(15);
    expect(analytics.topRooms.map((room: { display_name: string }) => room.display_name)).toContain('Stand-up');
    expect(library.total).toBeGreaterThan(5);
  } finally {
    await stopServer(server);
  }
});
