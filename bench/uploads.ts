/**
 * Compares uploads of 100 MB: in one multipart request, resumably in parts of 8 MiB, and in one request to a plain
 * server that only parses and stores. Rounds are interleaved:
 *   npm run bench -- uploads [rounds=5] [concurrency=1,4] [ways=disk,s3] [sides=plain,multipart,resumable] [write=0]
 * `s3` is a sink that stores nothing. `real-s3` is the server that the variables of the storage tests name. After each
 * upload, the recorded hash is compared with that of the file, and so is the file, where it is stored.
 */
import { readOptions } from './options.ts';
import { describeRun, toTable, writeSection } from './report.ts';
import {
  cpuMs,
  openWorld,
  peakMib,
  requireStored,
  resetPeak,
  residentMib,
  type Server,
  sendParts,
  sendUpload,
  spread,
  type World,
} from './upload-servers.ts';

const MB = 1_000_000;
const SIZE = 100 * MB;

const allSides = ['plain', 'multipart', 'resumable'] as const;
type Side = (typeof allSides)[number];
/** `idleMib` is the least memory of the server between uploads so far. */
type Target = Server & { side: Side; idleMib: number };
type Sample = { seconds: number; cpu: number; peakMib: number };

export async function run(): Promise<void> {
  const { rounds = '5', concurrency = '1,4', write, ...options } = readOptions();
  const ways = (options.ways ?? 'disk,s3').split(',');
  const named = options.sides?.split(',');
  const sides = allSides.filter((side) => named?.includes(side) ?? true);
  const world = await openWorld();
  const rows: string[][] = [];
  try {
    for (const way of ways) {
      const targets: Target[] = [];
      for (const side of sides) targets.push(await startTarget(world, way, side));
      for (const target of targets) await measure(target, 1);
      for (const many of concurrency.split(',').map(Number)) {
        const samples = new Map<Target, Sample[]>(targets.map((target) => [target, []]));
        for (let round = 0; round < Number(rounds); round += 1)
          for (const target of round % 2 === 0 ? targets : targets.toReversed())
            samples.get(target)?.push(await measure(target, many));
        const results = [...samples].map(([target, values]) => toResult(target, values));
        rows.push(...results.map((result) => toRow(`${way}, ${many} at a time`, result)));
        rows.push(...compare(results, 'multipart', 'plain'), ...compare(results, 'resumable', 'multipart'));
      }
      for (const target of targets) await target.stop();
    }
  } finally {
    await world.close();
  }
  const head = ['Files of 100 MB', 'sent', 'seconds', 'CPU ms per file', 'peak memory above idle, MiB'];
  const text = `${describeRun(`${rounds} rounds; median (range).`)}\n\n${toTable(head, rows)}`;
  const isWhole = options.ways === undefined && options.sides === undefined;
  await writeSection('performance.md', 'uploads', text, isWhole && write !== '0');
}

async function startTarget(world: World, way: string, side: Side): Promise<Target> {
  const env = world.storage(way, side);
  const server = side === 'plain' ? await world.startPlain(env) : await world.startLynxroom(`${way}_${side}`, env);
  return { ...server, side, idleMib: residentMib(server.pid) };
}

/** Uploads `many` files at the same time. */
async function measure(target: Target, many: number): Promise<Sample> {
  const { side, pid } = target;
  const send = side === 'resumable' ? sendParts : sendUpload;
  resetPeak(pid);
  target.idleMib = Math.min(target.idleMib, residentMib(pid));
  const cpuBefore = cpuMs(pid);
  const start = performance.now();
  const items = await Promise.all(Array.from({ length: many }, () => send(target, SIZE)));
  const seconds = (performance.now() - start) / 1000;
  const sample = { seconds, cpu: (cpuMs(pid) - cpuBefore) / many, peakMib: peakMib(pid) };
  if (side !== 'plain') for (const item of items) await requireStored(target, item, SIZE);
  return sample;
}

/** The figures of all rounds. */
type Result = { side: Side; seconds: number[]; cpu: number[]; memory: number[] };

function toResult({ side, idleMib }: Target, samples: Sample[]): Result {
  return {
    side,
    seconds: samples.map(({ seconds }) => seconds),
    cpu: samples.map(({ cpu }) => cpu),
    memory: samples.map(({ peakMib }) => peakMib - idleMib),
  };
}

function toRow(what: string, { side, seconds, cpu, memory }: Result): string[] {
  return [what, side, spread(seconds, 2), spread(cpu), spread(memory)];
}

/** Returns a row with the ratios of the rounds, if both sides were measured. */
function compare(results: Result[], side: Side, other: Side): string[][] {
  const result = results.find((found) => found.side === side);
  const base = results.find((found) => found.side === other);
  if (result === undefined || base === undefined) return [];
  const ratios = (['seconds', 'cpu', 'memory'] as const).map((figure) =>
    spread(
      result[figure].map((value, round) => value / (base[figure][round] ?? Number.NaN)),
      2,
    ),
  );
  return [['', `${side} / ${other}`, ...ratios]];
}
