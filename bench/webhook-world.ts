/**
 * Starts what the webhook benches measure: databases with webhooks, the worker, the receiver and the baseline sender.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { createEncryptionKey, createSealer } from '../src/core/sealing.ts';
import { type Database, openDatabase, transact } from '../src/db/client.ts';
import { startEmbeddedPostgres } from '../src/db/embedded.ts';
import { applyMigrations } from '../src/db/migrate.ts';
import { sqlIn } from '../src/db/sql.ts';
import { emitAll } from '../src/events/emit.ts';
import { createSecret, sealSecret } from '../src/features/webhooks/secrets.ts';
import { serverLimits } from './server-limits.ts';

/** Returns the milliseconds of a clock that all processes of this machine share. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** One request at the receiver. `at` is the time of its first bytes, from `monotonicMs`. */
export type Arrival = { path: string; roomId: number; at: number };
export type ReceiverRequest = { kind: 'await'; count: number } | { kind: 'take' };
export type ReceiverReport = { kind: 'reached' } | { kind: 'arrivals'; arrivals: Arrival[] };
export type SenderFigures = { perSecond: number; cpuUs: number };

const PADDING = 'x'.repeat(740);

/** Returns an event whose message is 1 kB. */
export function roomCreated(workspaceId: number, roomId: number) {
  return {
    type: 'room.created' as const,
    workspaceId,
    data: {
      workspace_id: workspaceId,
      room_id: roomId,
      room_name: `room-${roomId}`,
      display_name: PADDING,
      created_by: 'Bench',
      created_by_id: 1,
      scheduled_at: null,
      created_at: 1_767_225_600,
    },
  };
}

/** Emits events at an even rate, each in a transaction of its own. Resolves with the commit times by `room_id`. */
export async function emitSteadily(
  { emit }: BenchDatabase,
  perSecond: number,
  events: readonly ReturnType<typeof roomCreated>[],
): Promise<Map<number, number>> {
  const committedAt = new Map<number, number>();
  const emitting: Promise<void>[] = [];
  const start = performance.now();
  for (const [index, event] of events.entries()) {
    await sleep(Math.max(0, start + (index * 1000) / perSecond - performance.now()));
    emitting.push(emit([event]).then((at) => void committedAt.set(event.data.room_id, at)));
  }
  await Promise.all(emitting);
  return committedAt;
}

/** Returns the milliseconds from each event's commit to its receiver. */
export function latenciesOf(arrivals: readonly Arrival[], committedAt: ReadonlyMap<number, number>): number[] {
  return arrivals.map(({ roomId, at }) => at - (committedAt.get(roomId) ?? Number.NaN));
}

/** Returns the smallest value that this share of all values does not exceed. */
export function quantile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN;
}

function scriptPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

export type Receiver = {
  url: string;
  /** Resolves when this many requests have arrived since the last `take`. */
  reached(count: number): Promise<void>;
  /** Returns the requests since the last `take`. */
  take(): Promise<Arrival[]>;
};

async function startReceiver(port: number, cleanup: AsyncDisposableStack): Promise<Receiver> {
  const child = spawn(process.execPath, [scriptPath('webhook-receiver.ts')], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  cleanup.defer(() => void child.kill('SIGKILL'));
  const ask = async (request: ReceiverRequest): Promise<ReceiverReport> => {
    child.send(request);
    const [report] = (await once(child, 'message')) as [ReceiverReport];
    return report;
  };
  const url = `http://127.0.0.1:${port}`;
  while (!(await fetch(url, { method: 'POST' }).catch(() => null))) await sleep(50);
  const receiver: Receiver = {
    url,
    async reached(count) {
      await ask({ kind: 'await', count });
    },
    async take() {
      const report = await ask({ kind: 'take' });
      return report.kind === 'arrivals' ? report.arrivals : [];
    },
  };
  await receiver.take();
  return receiver;
}

export type BenchDatabase = {
  db: Database;
  url: string;
  workspaceIds: number[];
  /** Emits events in one transaction. Resolves with the commit time. */
  emit(events: readonly ReturnType<typeof roomCreated>[]): Promise<number>;
  close(): Promise<void>;
};

export type WorkerRun = { pid: number; stop(signal?: NodeJS.Signals): Promise<void> };

export type WebhookWorld = {
  receiver: Receiver;
  /** Creates a database with one webhook for each path. The paths of an inner list share a workspace. */
  createDatabase(paths: readonly (readonly string[])[]): Promise<BenchDatabase>;
  /** Starts the worker on CPU 0. Resolves when it is ready. */
  startWorker(database: BenchDatabase, env?: Record<string, string>, nodeOptions?: string[]): Promise<WorkerRun>;
  /** Runs the baseline sender on CPU 0. */
  runSender(env: Record<string, string>): Promise<SenderFigures>;
  close(): Promise<void>;
};

const log = { debug() {}, info() {}, warn() {}, error: console.error };
const TEMPLATE = 'webhook_bench';
const EVENTS_PER_STATEMENT = 1_000;
const RECEIVER_PORT = 4_391;

async function addWebhooks(db: Database, paths: readonly (readonly string[])[], key: Uint8Array, base: string) {
  const sealer = createSealer(key);
  const createdAt = new Date();
  const owner = await db.user.create({
    data: { name: 'Bench', email: 'bench@example.com', passwordHash: '-', createdAt },
  });
  const ids: number[] = [];
  for (const [index, ofWorkspace] of paths.entries()) {
    const { id } = await db.workspace.create({
      data: {
        name: 'Bench',
        slug: `bench-${index}`,
        ownerId: owner.id,
        createdAt,
        members: { create: { userId: owner.id, role: 'owner', joinedAt: createdAt } },
      },
    });
    ids.push(id);
    await db.webhook.createMany({
      data: ofWorkspace.map((path) => ({
        workspaceId: id,
        name: path,
        url: base + path,
        events: ['room.created'],
        sealedSecret: sealSecret(sealer, id, createSecret()),
        createdAt,
        updatedAt: createdAt,
      })),
    });
  }
  return ids;
}

export async function openWebhookWorld(): Promise<WebhookWorld> {
  await using startup = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'lynxroom-bench-'));
  // If root runs this, PostgreSQL runs as another account, which must be able to enter.
  await chmod(folder, 0o755);
  startup.defer(() => rm(folder, { recursive: true, force: true }));
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log });
  startup.defer(() => postgres.stop());
  const admin = new pg.Client({ connectionString: postgres.superuserUrl });
  await admin.connect();
  startup.defer(() => admin.end());
  const urlOf = (name: string): string => Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href;
  const role = new URL(postgres.url).username;
  await admin.query(`create database ${TEMPLATE} owner ${role}`);
  await applyMigrations({ connectionString: urlOf(TEMPLATE), log });
  const receiver = await startReceiver(RECEIVER_PORT, startup);
  const key = createEncryptionKey();
  let databases = 0;

  const cleanup = startup.move();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanup.disposeAsync().finally(() => process.exit(1)));
  return {
    receiver,

    async createDatabase(paths) {
      databases += 1;
      const name = `bench_${databases}`;
      await admin.query(`create database ${name} template ${TEMPLATE} owner ${role} strategy file_copy`);
      const url = urlOf(name);
      const db = openDatabase({ connectionString: url, poolSize: 8, onError: () => {} });
      const workspaceIds = await addWebhooks(db, paths, key, receiver.url);
      return {
        db,
        url,
        workspaceIds,
        async emit(events) {
          const at = new Date();
          await transact(db, async (tx) => {
            for (let from = 0; from < events.length; from += EVENTS_PER_STATEMENT)
              await emitAll(sqlIn(tx), at, events.slice(from, from + EVENTS_PER_STATEMENT));
          });
          return monotonicMs();
        },
        async close() {
          await db.$disconnect();
          await admin.query(`drop database ${name} with (force)`);
        },
      };
    },

    async startWorker(database, env = {}, nodeOptions = []) {
      const path = scriptPath('../src/worker.ts');
      const child: ChildProcess = spawn('taskset', ['-c', '0', process.execPath, ...nodeOptions, path], {
        env: {
          ...process.env,
          ...serverLimits,
          NODE_ENV: 'production',
          LOG_LEVEL: 'info',
          DATABASE_URL: database.url,
          DATA_DIR: join(folder, 'worker'),
          ENCRYPTION_KEY: Buffer.from(key).toString('base64'),
          WEBHOOK_ALLOW_PRIVATE: '1',
          // The one receiver stands for many hosts.
          WEBHOOK_HOST_CONCURRENCY: '0',
          WEBHOOK_HOST_RATE: '0',
          ...env,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const exited = once(child, 'exit');
      const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
        child.kill(signal);
        await exited;
      };
      cleanup.defer(() => stop('SIGKILL'));
      await new Promise<void>((resolve, reject) => {
        child.stdout?.on('data', (chunk: Buffer) => {
          const text = chunk.toString();
          if (text.includes('"Worker started"')) resolve();
          if (/"level":[456]0/.test(text)) process.stderr.write(text);
        });
        void exited.then(() => reject(new Error('The worker ended')));
      });
      return { pid: child.pid ?? 0, stop };
    },

    async runSender(env) {
      const { stdout } = await promisify(execFile)(
        'taskset',
        ['-c', '0', process.execPath, scriptPath('webhook-sender.ts')],
        { env: { ...process.env, RECEIVER_URL: `${receiver.url}/bare`, ...env } },
      );
      return JSON.parse(stdout) as SenderFigures;
    },

    close: () => cleanup.disposeAsync(),
  };
}
