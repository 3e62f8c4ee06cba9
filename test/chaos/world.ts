/** A server with a PostgreSQL that it reaches through a network that can break, and a receiver of its webhooks. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../src/db/embedded.ts';
import { freePort } from '../support/free-port.ts';
import { createHttp, type Http } from '../support/http.ts';
import { quietLog } from '../support/quiet-log.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type ServerProcess, startServer } from '../support/server-process.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { PASSWORD } from '../support/world.ts';
import type { LoadUser } from './load.ts';

const USERS = 3;

export type ChaosWorld = {
  url: string;
  http: Http;
  network: TcpProxy;
  receiver: Receiver;
  users: LoadUser[];
  /** Connections that do not go through `network`. */
  direct: pg.Pool;
  killServer(): Promise<void>;
  /** Shuts the server down gracefully, and starts it again. */
  restartServer(): Promise<void>;
  /** Kills PostgreSQL, which its supervisor then restarts. */
  killPostgres(): Promise<void>;
  /** Sends a signal to all processes of PostgreSQL. */
  signalPostgres(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** The server's log so far, of all its runs. */
  output(): string;
};

export async function startChaosWorld(cleanup: AsyncDisposableStack): Promise<ChaosWorld> {
  const dir = await makeTempDir();
  cleanup.defer(() => rm(dir, { recursive: true, force: true }));
  const dataDir = join(dir, 'postgres');
  const postgres = await startEmbeddedPostgres({ dataDir, stateDir: join(dir, 'state'), log: quietLog });
  cleanup.defer(postgres.stop);
  const network = await startTcpProxy(postgres.url);
  cleanup.defer(network.close);
  const direct = new pg.Pool({ connectionString: postgres.superuserUrl, max: 2 });
  direct.on('error', () => {
    // PostgreSQL was killed. The pool opens another connection for the next query.
  });
  cleanup.defer(() => direct.end());
  const receiver = await startReceiver();
  cleanup.defer(receiver.close);
  const port = await freePort();
  const outputs: string[] = [];
  let server: ServerProcess;
  async function start(): Promise<void> {
    server = startServer({
      DATABASE_URL: network.url,
      DATA_DIR: join(dir, 'data'),
      PORT: String(port),
      LOG_LEVEL: 'info',
      NODE_ENV: 'test',
      WEBHOOK_ALLOW_PRIVATE: '1',
      RATE_LIMIT_SIGNED_IN: '0',
      QUOTA_ROOMS: '0',
    });
    await server.ready;
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    await server.end(signal);
    outputs.push(server.output());
  }
  await start();
  cleanup.defer(() => end('SIGTERM'));
  const url = `http://127.0.0.1:${port}`;
  const http = createHttp(url);
  const postmasterPid = async (): Promise<number> => {
    const { rows } = await direct.query("select setting as dir from pg_settings where name = 'data_directory'");
    return Number((await readFile(join(rows[0].dir, 'postmaster.pid'), 'utf8')).split('\n', 1)[0]);
  };
  let pid = await postmasterPid();
  return {
    url,
    http,
    network,
    receiver,
    direct,
    users: await Promise.all(Array.from({ length: USERS }, (_, index) => addUser(http, receiver, index))),
    async killServer() {
      await end('SIGKILL');
      await start();
    },
    async restartServer() {
      await end('SIGTERM');
      await start();
    },
    async killPostgres() {
      process.kill(pid, 'SIGKILL');
      pid = await untilChanged(postmasterPid, pid);
    },
    async signalPostgres(signal) {
      const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
      for (const child of [pid, ...children.trim().split(' ').filter(Boolean).map(Number)]) process.kill(child, signal);
    },
    output: () => outputs.join('') + server.output(),
  };
}

async function addUser(http: Http, receiver: Receiver, index: number): Promise<LoadUser> {
  const call = async (path: string, body: object, token?: string) => {
    const answer = await http.post(path, token, body);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const account = { name: 'Chaos', email: `chaos${index}@example.com`, password: PASSWORD };
  const { token } = await call('/api/auth/register', account);
  const { workspace } = await call('/api/workspaces', { name: 'Chaos' }, token);
  const webhook = { name: 'Chaos', url: `${receiver.url}/${index}`, events: ['room.created'] };
  await call(`/api/workspaces/${workspace.id}/webhooks`, webhook, token);
  return { token, workspaceId: workspace.id };
}

async function untilChanged(read: () => Promise<number>, before: number): Promise<number> {
  for (;;) {
    const now = await read().catch(() => before);
    if (now !== before) return now;
    await sleep(20);
  }
}
