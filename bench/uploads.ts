/**
 * How fast uploads of 100 MB are, against a plain server that does nothing but parse and store, in interleaved rounds:
 *   taskset -c 1 node bench/uploads.ts [rounds=5] [concurrency=1,4] [ways=disk,s3]
 * Servers run on CPU 0; the client, PostgreSQL and the S3 sink share CPU 1. Linux only.
 */
import { cpuMs, median, openWorld, type Server, sendUpload, spread } from './upload-servers.ts';

const MB = 1_000_000;
const SIZE = 100 * MB;
const options = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const rounds = Number(options.rounds ?? 5);
const concurrencies = (options.concurrency ?? '1,4').split(',').map(Number);
const ways = (options.ways ?? 'disk,s3').split(',');

type Shot = { mbPerSecond: number; cpu: number };

async function shoot(server: Server, many: number): Promise<Shot> {
  const cpuBefore = cpuMs(server.pid);
  const start = performance.now();
  await Promise.all(Array.from({ length: many }, () => sendUpload(server, SIZE)));
  const seconds = (performance.now() - start) / 1000;
  return { mbPerSecond: (many * SIZE) / MB / seconds, cpu: (cpuMs(server.pid) - cpuBefore) / many };
}

const world = await openWorld();
try {
  for (const way of ways) {
    const env = way === 's3' ? world.s3 : {};
    const plain = await world.startPlain(way === 's3' ? 's3' : 'disk', env);
    const ours = await world.startLynxroom(way, env);
    for (const server of [plain, ours]) await shoot(server, 1);
    for (const many of concurrencies) {
      const shots = { plain: [] as Shot[], ours: [] as Shot[] };
      for (let round = 0; round < rounds; round += 1) {
        const order = round % 2 === 0 ? (['plain', 'ours'] as const) : (['ours', 'plain'] as const);
        for (const name of order) shots[name].push(await shoot(name === 'plain' ? plain : ours, many));
      }
      console.log(`\n${way}, ${many} at a time | MB/s | CPU ms an upload`);
      for (const [name, got] of Object.entries(shots)) {
        const speed = spread(got.map((shot) => shot.mbPerSecond));
        console.log(`${name} | ${speed} | ${spread(got.map((shot) => shot.cpu))}`);
      }
      const ratios = (of: (shot: Shot) => number) =>
        shots.ours.map((shot, round) => of(shot) / of(shots.plain[round] ?? shot));
      const speeds = ratios((shot) => shot.mbPerSecond);
      const costs = ratios((shot) => shot.cpu);
      console.log(`ours / plain | ${spread(speeds, 2)} | ${spread(costs, 2)} (median ${median(speeds).toFixed(2)})`);
    }
  }
} finally {
  await world.close();
}
