/**
 * Measures the memory that uploads of 100 MB take: the server's peak above its idle size, 8 uploads at a time.
 *   node bench/upload-memory.ts [many=8] [rounds=3] [ways=disk,s3]
 * By design an upload holds at most 4 MiB on its way to the disk, and two parts of 8 MiB on its way to S3. The rest is
 * garbage that has not been collected yet. Linux only.
 */
import { readOptions } from './options.ts';
import { openWorld, peakMib, resetPeak, residentMib, sendUpload } from './upload-servers.ts';

const SIZE = 100_000_000;
const options = readOptions();
const many = Number(options.many ?? 8);
const rounds = Number(options.rounds ?? 3);
const ways = (options.ways ?? 'disk,s3').split(',');
const MIB_PER_UPLOAD: Record<string, number> = { disk: 4, s3: 16 };

const world = await openWorld();
try {
  console.log(`${many} at a time | idle MiB | peak MiB | above idle | per upload | by design`);
  for (const way of ways) {
    const server = await world.startLynxroom(way, way === 's3' ? world.s3 : {});
    await sendUpload(server, SIZE);
    for (let round = 0; round < rounds; round += 1) {
      resetPeak(server.pid);
      const idle = residentMib(server.pid);
      await Promise.all(Array.from({ length: many }, () => sendUpload(server, SIZE)));
      const peak = peakMib(server.pid);
      const above = peak - idle;
      const figures = [idle, peak, above, above / many, many * (MIB_PER_UPLOAD[way] ?? 0)];
      console.log(`${way} | ${figures.map((figure) => figure.toFixed(0)).join(' | ')}`);
    }
  }
} finally {
  await world.close();
}
