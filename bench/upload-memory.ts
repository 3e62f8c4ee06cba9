/**
 * How much memory uploads of 100 MB take: the server's peak above its idle, 8 at a time.
 *   node bench/upload-memory.ts [many=8] [rounds=3] [ways=disk,s3]
 * An upload holds at most 4 MiB on its way to the disk and two parts of 8 MiB on its way to S3; what comes on top is
 * garbage that is not collected yet. Linux only.
 */
import { openWorld, peakMib, resetPeak, residentMib, sendUpload } from './upload-servers.ts';

const SIZE = 100_000_000;
const options = Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('='))) as Record<
  string,
  string
>;
const many = Number(options.many ?? 8);
const rounds = Number(options.rounds ?? 3);
const ways = (options.ways ?? 'disk,s3').split(',');
const MIB_AN_UPLOAD: Record<string, number> = { disk: 4, s3: 16 };

const world = await openWorld();
try {
  console.log(`${many} at a time | idle MiB | peak MiB | above idle | an upload | held by design`);
  for (const way of ways) {
    const server = await world.startLynxroom(way, way === 's3' ? world.s3 : {});
    await sendUpload(server, SIZE);
    for (let round = 0; round < rounds; round += 1) {
      resetPeak(server.pid);
      const idle = residentMib(server.pid);
      await Promise.all(Array.from({ length: many }, () => sendUpload(server, SIZE)));
      const peak = peakMib(server.pid);
      const above = peak - idle;
      const figures = [idle, peak, above, above / many, many * (MIB_AN_UPLOAD[way] ?? 0)];
      console.log(`${way} | ${figures.map((figure) => figure.toFixed(0)).join(' | ')}`);
    }
  }
} finally {
  await world.close();
}
