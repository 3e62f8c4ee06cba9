/** Uploads through a real network to a real server: one that is killed, and one that cannot be reached for a while. */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient } from '../../packages/client/src/index.ts';
import { freePort } from '../support/free-port.ts';
import { createHttp } from '../support/http.ts';
import { type ServerProcess, startServer, stopServer } from '../support/server-process.ts';
import { serverStores } from '../support/server-stores.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { createDatabase, type TestApp, type TestDatabase } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';
import { uploadWithTus } from './stock-clients.mjs';
import { pdfOf } from './tus-fixtures.ts';

const MIB = 1024 * 1024;
/** In parts of 8 MiB, 40 % of it is in the middle of the second one. */
const FILE = pdfOf(30 * MIB);
const INTERRUPTED_AT = 0.4 * FILE.length;

/** A request of a client; `offset` is its header Upload-Offset. */
type Sent = { method: string; offset: string | null };

type Uploader = { client: string; upload(file: Buffer, sent: Sent[]): Promise<void> };

describe.each(serverStores('interruptions'))('a server with its files on $store', ({ env }) => {
  let database: TestDatabase;
  let dataDir: string;
  let port: number;
  let server: ServerProcess;
  let proxy: TcpProxy;
  let team: Team;
  /** How many bytes have passed since the last interruption, and what happens when enough have. */
  let passed = 0;
  let interrupt: (() => void) | null = null;

  beforeAll(async () => {
    database = await createDatabase();
    dataDir = await makeTempDir();
    port = await freePort();
    await start();
    proxy = await startTcpProxy(`http://127.0.0.1:${port}`, (chunk) => {
      passed += chunk.length;
      if (passed >= INTERRUPTED_AT) {
        interrupt?.();
        interrupt = null;
      }
      return chunk;
    });
    const url = proxy.url.replace(/\/$/, '');
    // `as`: people and teams are created over HTTP, and need nothing else of an app.
    team = await addTeam({ url, http: createHttp(url) } as TestApp);
  });
  afterAll(async () => {
    await proxy.close();
    await stopServer(server);
    await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    server = startServer({ PORT: String(port), DATABASE_URL: database.url, DATA_DIR: dataDir, CONSOLE: '0', ...env });
    await server.ready;
  }

  const uploaders: Uploader[] = [
    {
      client: 'the typed client',
      async upload(file, sent) {
        const client = createClient({
          url: proxy.url,
          token: team.member.token,
          fetch: (input, init) => {
            sent.push({ method: init?.method ?? 'GET', offset: new Headers(init?.headers).get('upload-offset') });
            return fetch(input, init);
          },
        });
        await client.upload({
          id: team.id,
          file: new File([Uint8Array.from(file)], 'a.pdf', { type: 'application/pdf' }),
        });
      },
    },
    {
      client: 'tus-js-client',
      async upload(file, sent) {
        await uploadWithTus(file, {
          endpoint: new URL(`${team.path}/library/uploads`, proxy.url).href,
          headers: { authorization: `Bearer ${team.member.token}` },
          metadata: { filename: 'a.pdf', filetype: 'application/pdf' },
          chunkSize: 8 * MIB,
          retryDelays: [500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000],
          onBeforeRequest: (request) => {
            sent.push({ method: request.getMethod(), offset: request.getHeader('Upload-Offset') ?? null });
          },
        });
      },
    },
  ];

  /** Uploads the file, with an interruption at 40 %, and expects that it continues from there. */
  async function expectContinued({ upload }: Uploader, interruption: () => Promise<void>): Promise<void> {
    const sent: Sent[] = [];
    const before = (await items()).map(({ id }) => id);
    const interrupted = Promise.withResolvers<void>();
    passed = 0;
    interrupt = () => void interruption().then(interrupted.resolve, interrupted.reject);
    await Promise.all([upload(FILE, sent), interrupted.promise]);
    const added = (await items()).filter(({ id }) => !before.includes(id));
    expect(added).toHaveLength(1);
    const { url } = await team.member.client.library.download.query({ id: team.id, itemId: added[0]?.id ?? 0 });
    const stored = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(hashOf(stored)).toBe(hashOf(FILE));
    expect(sent.filter(({ method }) => method === 'POST')).toHaveLength(1);
    expect(sent.filter(({ method }) => method === 'HEAD').length).toBeGreaterThan(0);
    // Only the first part begins at the first byte.
    expect(sent.filter(({ offset }) => offset === '0')).toHaveLength(1);
  }

  async function items() {
    return (await team.member.client.library.list.query({ id: team.id })).items;
  }

  test.each(uploaders)(
    'that is killed at 40 % gets the rest from $client after it has started again',
    async (one) => {
      await expectContinued(one, async () => {
        await server.end('SIGKILL');
        await start();
      });
    },
    180_000,
  );

  test.each(uploaders)(
    'that cannot be reached from 40 % on gets the rest from $client',
    async (one) => {
      await expectContinued(one, async () => {
        proxy.refuse();
        await sleep(2_000);
        proxy.repair();
      });
    },
    180_000,
  );
});

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
