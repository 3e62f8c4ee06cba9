/** Two equal worlds. One is called over REST, the other over tRPC, and they must stay equal. */
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { type Dump, dumpTables } from '../../support/dump.ts';
import { startTestApp } from '../../support/test-app.ts';
import { type Restorer, saveRows } from '../restore.ts';
import { createWorld, type Scene, type World } from '../scene.ts';
import {
  type Call,
  isServed,
  type Outcome,
  type Transport,
  viaRest,
  viaTrpc,
  withoutRandomness,
} from '../transports.ts';

// Frozen, so that both worlds get the same timestamps.
const FROZEN_AT = new Date('2026-06-15T12:00:00Z');

/** One of the worlds, with the transport of its calls. */
export type Stage = { world: World; scene: Scene; transport: Transport; restorer: Restorer };

export type Stages = {
  /** The worlds over whose transport the operation is served, REST first. */
  of(name: string): readonly Stage[];
  /** The world that is called over REST. */
  rest(): Stage;
  /** Makes the call in each world and returns the outcome, which must be the same. */
  call(name: string, toCall: (stage: Stage) => Omit<Call, 'name'>): Promise<Outcome>;
  /** The rows of each world. */
  dump(name: string): Promise<Dump[]>;
  /** The rows of each world at the beginning. */
  initialRows(name: string): Dump[];
  /** Restores the rows of both worlds when the test is over. */
  restoreAfterTest(): void;
};

/**
 * Starts the worlds before the tests of the file and closes them after the last. `random` lists the fields of a row.
 */
export function startStages(random: (name: string) => readonly string[] | undefined): Stages {
  let stages: readonly Stage[] = [];
  beforeAll(async () => {
    stages = await Promise.all([viaRest, viaTrpc].map(startStage));
  });
  afterAll(() => Promise.all(stages.map(closeStage)));

  const of = (name: string): readonly Stage[] => stages.filter(({ transport }) => isServed(name, transport));
  return {
    of,
    rest() {
      const [first] = stages;
      if (!first) throw new Error('The worlds are started before the first test');
      return first;
    },
    async call(name, toCall) {
      const [rest, trpc] = await Promise.all(
        of(name).map(async (stage) => {
          const { body, ...outcome } = await stage.transport(stage.world.app, { name, ...toCall(stage) });
          return { ...outcome, body: withoutRandomness(body, random(name)) };
        }),
      );
      if (!rest) throw new Error('No outcome');
      if (trpc) expect(trpc, 'tRPC answers as REST does').toEqual(rest);
      return rest;
    },
    dump: (name) => Promise.all(of(name).map(({ world }) => dumpTables(world.app))),
    initialRows: (name) => of(name).map(({ restorer }) => restorer.rows),
    restoreAfterTest() {
      onTestFinished(async () => {
        await Promise.all(stages.map(({ restorer }) => restorer.restore()));
      });
    },
  };
}

async function startStage(transport: Transport): Promise<Stage> {
  const world = await createWorld(await startTestApp({ frozenAt: FROZEN_AT }));
  const scene = await world.addScene();
  return { world, scene, transport, restorer: await saveRows(world.app) };
}

async function closeStage({ world, restorer }: Stage): Promise<void> {
  await restorer.close();
  await world.app.close();
}
