import { expect, test } from 'vitest';
import { copyDue, reportAvailable, useCopyScene } from '../meeting-providers/recording-copies/copy-scene.ts';
import { respond } from '../support/receiver.ts';
import { scrape, totalOf } from './samples.ts';

const scene = useCopyScene({ hasMetrics: true });

test('copies of recordings are counted by outcome', async () => {
  await reportAvailable(scene, `${scene.server.url}/archive.mp4`, { id: 'first' });
  await copyDue(scene);
  scene.server.respondWith(respond(404));
  await reportAvailable(scene, `${scene.server.url}/other.mp4`, { id: 'second' });
  await copyDue(scene);
  const samples = await scrape(scene.app);
  const count = (outcome: string) => totalOf(samples, 'lynxroom_recording_copies_total', { outcome });
  expect(['copied', 'failed', 'dropped'].map(count)).toEqual([1, 1, 0]);
});
