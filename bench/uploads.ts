/**
 * Compares the speed of uploads of 100 MB with a plain server that only parses and stores, in interleaved rounds:
 *   taskset -c 1 node bench/uploads.ts [rounds=5] [concurrency=1,4] [ways=disk,s3]
 * Servers run on CPU 0; the client, PostgreSQL and the S3 sink share CPU 1. Linux only.
 */
import { readOptions } from './options.ts';
import { cpuMs, median, openWorld, type Server, sendUpload, spread } from './upload-servers.ts';

const MB = 1_000_000;
const SIZE = 100 * MB;
const options = readOptions();
const rounds = Number(options.rounds ?? 5);
const concurrencies = (options.concurrency ?? '1,4').split(',').map(Number);
const ways = (options.ways ?? 'disk,s3').split(',');

type Sample = { mbPerSecond: number; cpu: number };

async function measure(server: Server, many: number): Promise<Sample> {
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
    for (const server of [plain, ours]) await measure(server, 1);
    for (const many of concurrencies) {
      const samples = { plain: [] as Sample[], ours: [] as Sample[] };
      for (let round = 0; round < rounds; round += 1) {
        const order = round % 2 === 0 ? (['plain', 'ours'] as const) : (['ours', 'plain'] as const);
        for (const name of order) samples[name].push(await measure(name === 'plain' ? plain : ours, many));
      }
      console.log(`\n${way}, ${many} at a time | MB/s | CPU ms per upload`);
      for (const [name, got] of Object.entries(samples)) {
        const speed = spread(got.map((sample) => sample.mbPerSecond));
        console.log(`${name} | ${speed} | ${spread(got.map((sample) => sample.cpu))}`);
      }
      const ratios = (of: (sample: Sample) => number) =>
        samples.ours.map((sample, round) => of(sample) / of(samples.plain[round] ?? sample));
      const speeds = ratios((sample) => sample.mbPerSecond);
      const costs = ratios((sample) => sample.cpu);
      console.log(`ours / plain | ${spread(speeds, 2)} | ${spread(costs, 2)} (median ${median(speeds).toFixed(2)})`);
    }
  }
} finally {
  await world.close();
}
