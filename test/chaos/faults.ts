/** The faults, each of which ends by itself. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosWorld } from './world.ts';

export type Fault = {
  name: string;
  /** Resolves when the fault is over, which is the time from which the recovery counts. */
  cause(world: ChaosWorld): Promise<void>;
};

/** How long a fault of the network or of the database lasts. Longer than every timeout of the service. */
const FAULT_MS = 20_000;

export const faults: readonly Fault[] = [
  {
    name: 'the network forgets the open connections',
    async cause({ network }) {
      network.forgetConnections();
      await sleep(FAULT_MS);
    },
  },
  {
    name: 'the network swallows everything',
    async cause({ network }) {
      network.breakDown();
      await sleep(FAULT_MS);
      network.repair();
    },
  },
  {
    name: 'connections are reset once a second',
    async cause({ network }) {
      for (let second = 0; second < FAULT_MS / 1_000; second += 1) {
        network.resetConnections();
        await sleep(1_000);
      }
    },
  },
  {
    name: 'the database refuses connections',
    async cause({ network }) {
      network.refuse();
      await sleep(FAULT_MS);
      network.repair();
    },
  },
  {
    name: 'the database does not respond (SIGSTOP)',
    async cause({ signalPostgres }) {
      await signalPostgres('SIGSTOP');
      await sleep(FAULT_MS);
      await signalPostgres('SIGCONT');
    },
  },
  {
    name: 'a lock on the table of library items',
    async cause({ direct }) {
      const client = await direct.connect();
      try {
        await client.query('begin');
        await client.query('lock table library_items');
        await sleep(FAULT_MS);
        await client.query('rollback');
      } finally {
        client.release();
      }
    },
  },
  {
    name: 'the database ends every connection once a second',
    async cause({ direct }) {
      for (let second = 0; second < FAULT_MS / 1_000; second += 1) {
        await direct.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid()`,
        );
        await sleep(1_000);
      }
    },
  },
  { name: 'the server is restarted (SIGTERM)', cause: ({ restartServer }) => restartServer() },
];

/** The kills alternate between these. */
export const kills: readonly Fault[] = [
  { name: 'SIGKILL of the server', cause: ({ killServer }) => killServer() },
  { name: 'SIGKILL of PostgreSQL', cause: ({ killPostgres }) => killPostgres() },
];
