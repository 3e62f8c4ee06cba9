/** `npm run acceptance` against applications of this process. */
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dumpTables } from '../support/dump.ts';
import { startScript } from '../support/script-process.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson } from '../support/world.ts';

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await startTestApp();
  token = (await addPerson(app)).token;
});
afterAll(() => app.close());

/** Runs the command, and returns its exit status and its output. */
async function runAcceptance(url: string, env: Record<string, string>) {
  const { ended, output } = startScript(
    'scripts/acceptance.ts',
    { LYNXROOM_URL: url, NO_COLOR: '1', ...env },
    () => {},
  );
  const status = await ended;
  return { status, output: output() };
}

test('an installation that keeps the contract passes, and has its rows as before, but for the log', async () => {
  const before = await dumpTables(app);
  const { status, output } = await runAcceptance(app.url, { LYNXROOM_TOKEN: token });
  expect(output).toMatch(/✓ .*nobody gets in without a valid credential: > labels\.create/);
  expect(output).toMatch(/Tests +[2-9]\d\d passed \(/);
  expect(status).toBe(0);
  const after = await dumpTables(app);
  const changed = Object.keys(after).filter((table) => after[table]?.length !== before[table]?.length);
  // The log of the account and its notices about API keys stay. Counters of deleted workspaces are cleared later.
  expect(changed.sort()).toEqual(['account_events', 'counter_changes', 'mail_messages']);
});

test('an installation that breaks the contract fails, by the name of the operation', async () => {
  const broken = await startProxy(app.url, (path) => path.includes('/labels'));
  try {
    const { status, output } = await runAcceptance(broken.url, { LYNXROOM_TOKEN: token });
    expect(output).toMatch(/× .*labels\.list/);
    expect(status).toBe(1);
  } finally {
    broken.server.close();
  }
});

test('without a session or with an unknown profile, the command says how it is used', async () => {
  const missing = await runAcceptance(app.url, {});
  expect(missing.output).toContain(
    'Pass the token of a session with --token or LYNXROOM_TOKEN\nUsage: npm run acceptance',
  );
  expect(missing.status).toBe(2);
});

/** Forwards requests, except that reading some paths answers with an empty object. */
async function startProxy(
  target: string,
  isBroken: (path: string) => boolean,
): Promise<{ url: string; server: Server }> {
  const server = createServer((incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    if (method === 'GET' && isBroken(url) && headers.authorization !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const outgoing = request(target + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    // If one side hangs up, such as the reader of a stream, the other does too.
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  // `as`: a server that listens on a port has an address with a port.
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}
