/** The pictures that lists show for files, which the browser makes after an upload. */
import { execFile } from 'node:child_process';
import { openAsBlob } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { root } from '../../client/packed-client.ts';
import { ffmpegPath } from '../../support/ffmpeg.ts';
import { jpeg } from '../../support/images.ts';
import { makeTempDir } from '../../support/temp-dir.ts';
import { expectAccessible, expectFitsPhone, journey } from './support/journey.ts';

const PDF = join(root, 'examples/sample.pdf');
const MAX_BYTES = 40_960;
/** The size of a poster in a list, in pixels. */
const BOX = { width: 60, height: 37.5 };

let dir: string;
beforeAll(async () => {
  dir = await makeTempDir();
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** Makes an MP4 of what a graph of ffmpeg's filters draws. */
async function makeVideo(name: string, graph: string): Promise<string> {
  const path = join(dir, name);
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
  await promisify(execFile)(ffmpegPath ?? '', ['-v', 'error', '-f', 'lavfi', '-i', graph, ...codec, path]);
  return path;
}

/** Makes a PDF whose page is a picture in JPEG 2000, as scanners write it. Readers find its objects without a table. */
async function makeScan(): Promise<string> {
  const image = '/Type /XObject /Subtype /Image /Width 64 /Height 64 /ColorSpace /DeviceRGB /BitsPerComponent 8';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R /Resources << /XObject << /I 5 0 R >> >> >>',
    '<< /Length 28 >>\nstream\nq 300 0 0 300 0 0 cm /I Do Q\nendstream',
    `<< ${image} /Filter /JPXDecode /Length 8 >>\nstream\n\xff\x4f\xff\x51\0\0\0\0\nendstream`,
  ];
  const body = objects.map((object, index) => `${index + 1} 0 obj\n${object}\nendobj\n`).join('');
  const path = join(dir, 'scan.pdf');
  await writeFile(path, `%PDF-1.7\n${body}trailer\n<< /Size 6 /Root 1 0 R >>\n%%EOF\n`, 'latin1');
  return path;
}

function findRow(page: Page, name: string): Locator {
  return page.getByRole('region', { name: 'Items' }).getByRole('listitem').filter({ hasText: name });
}

type Picture = { src: string; width: number; height: number; box: object; center: number[]; darkest: number };

/** The picture beside a name, in the list or table of a page. `darkest` is the lowest value of a color in it. */
async function readPoster(page: Page, name: string): Promise<Picture> {
  const find = `[...document.querySelectorAll('li img, tr img')]
    .find((image) => image.closest('li, tr').textContent.includes('${name}'))`;
  await expect.poll(() => page.evaluate(`(${find})?.naturalWidth > 0`)).toBe(true);
  // `as`: what the expression returns.
  return (await page.evaluate(`((image) => {
    const { src, naturalWidth: width, naturalHeight: height } = image;
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
    context.drawImage(image, 0, 0);
    const read = (...area) => [...context.getImageData(...area).data];
    const center = read(Math.floor(width / 2), Math.floor(height / 2), 1, 1).slice(0, 3);
    const darkest = read(0, 0, width, height).reduce((least, value) => Math.min(least, value), 255);
    const box = image.parentElement.getBoundingClientRect();
    return { src, width, height, box: { width: box.width, height: box.height }, center, darkest };
  })(${find})`)) as Picture;
}

if (ffmpegPath !== undefined) {
  journey('a video and a PDF get posters after their upload, which go with them', async ({ newTeam, open }) => {
    const size = 's=1280x720:r=10';
    const clip = await makeVideo('clip.mp4', `color=red:${size}:d=0.2[a];color=blue:${size}:d=2.8[b];[a][b]concat`);
    // Its poster has to be compressed more than others.
    const noise = await makeVideo('noise.mp4', `nullsrc=${size}:d=1,geq=random(1)*255:random(2)*255:random(3)*255`);
    const team = await newTeam();
    const page = await open(`/w/${team.id}/library`, team.member);
    await page.locator('input[type=file]').setInputFiles([clip, PDF, noise]);
    const read = async () => [
      await readPoster(page, 'clip.mp4'),
      await readPoster(page, 'sample.pdf'),
      await readPoster(page, 'noise.mp4'),
    ];
    const posters = await read();
    expect(posters).toMatchObject([
      { width: 480, height: 270, box: BOX },
      { width: 480, height: 679, box: BOX, center: [255, 255, 255] },
      { width: 480, height: 270, box: BOX },
    ]);
    // The frame at a tenth of the video, and not the first one.
    const [red = 255, , blue = 0] = posters[0]?.center ?? [];
    expect([red < 30, blue > 200]).toEqual([true, true]);
    // The text of the page.
    expect(posters[1]?.darkest).toBeLessThan(100);
    for (const { src } of posters) {
      const response = await page.request.get(src);
      expect([response.status(), response.headers()['content-type']]).toEqual([200, 'image/jpeg']);
      expect((await response.body()).length).toBeLessThanOrEqual(MAX_BYTES);
    }
    await page.getByRole('button', { name: 'Clear' }).click();
    await expectAccessible(page);
    await page.reload();
    expect(await read()).toEqual(posters);
    await expectFitsPhone(page);

    await page.getByRole('button', { name: 'clip.mp4', exact: true }).click();
    const player = page.getByLabel('Video clip.mp4');
    expect(new URL((await player.getAttribute('poster')) ?? '', page.url()).href).toBe(posters[0]?.src);
    await page.getByRole('button', { name: 'Close' }).click();

    for (const name of ['clip.mp4', 'sample.pdf', 'noise.mp4'])
      await page.getByRole('checkbox', { name: `Select ${name}` }).check();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByText('The library is empty').waitFor();
    for (const { src } of posters) await expect.poll(async () => (await page.request.get(src)).status()).toBe(404);
  });
}

journey('a file whose poster cannot be made, sent or loaded shows an icon', async ({ newTeam, open }) => {
  const team = await newTeam();
  const page = await open(`/w/${team.id}/library`, team.member);
  const isPoster = ({ pathname }: URL) => pathname.endsWith('/poster');
  let refused = 0;
  await page.route(isPoster, (route) => {
    refused += 1;
    return route.abort();
  });
  const broken = { name: 'broken.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 nothing') };
  const input = page.locator('input[type=file]');
  await input.setInputFiles(await makeScan());
  await input.setInputFiles(broken);
  await input.setInputFiles(PDF);
  await page.getByText('3 of 3 uploaded').waitFor();
  await expect.poll(() => refused).toBe(1);
  await page.unroute(isPoster);
  await page.getByRole('button', { name: 'Clear' }).click();
  await input.setInputFiles({ name: 'again.pdf', mimeType: 'application/pdf', buffer: await readFile(PDF) });
  // Posters are made one after another, so those of the others have been tried.
  await readPoster(page, 'again.pdf');
  for (const name of ['scan.pdf', 'broken.pdf', 'sample.pdf']) {
    await findRow(page, name).locator('svg').waitFor();
    expect(await findRow(page, name).locator('img').count()).toBe(0);
  }
  const { items } = await team.member.client.library.list.query({ id: team.id });
  expect(items).toHaveLength(4);
  expect(items.filter(({ poster_url }) => poster_url !== null)).toMatchObject([{ name: 'again.pdf' }]);

  await page.route(isPoster, (route) => route.abort());
  await page.reload();
  await findRow(page, 'again.pdf').waitFor();
  await expect.poll(() => findRow(page, 'again.pdf').locator('img').count()).toBe(0);
  await findRow(page, 'again.pdf').locator('svg').waitFor();
});

journey('the recordings of a room show their posters', async ({ newTeam, open }) => {
  const { id, owner } = await newTeam();
  const { room } = await owner.client.rooms.create.mutate({ workspace_id: id });
  const image = new Blob([Uint8Array.from(jpeg)]);
  for (const title of ['With a picture', 'Without']) {
    const started = await owner.client.recordings.start.mutate({ name: room.name, title });
    const { recording, upload_token: uploadToken } = started;
    await owner.client.recordings.stop.mutate({ name: room.name, recordingId: recording.id });
    const file = await openAsBlob(join(root, 'examples/sample.mp4'), { type: 'video/mp4' });
    await owner.client.uploadRecording({ recordingId: recording.id, uploadToken, file });
    if (title === 'Without') continue;
    await owner.client.setRecordingPoster({ recordingId: recording.id, uploadToken, image });
  }
  const page = await open(`/w/${id}/rooms/${room.name}`, owner);
  const findRecording = (title: string) => page.getByRole('row').filter({ hasText: title });
  const poster = await readPoster(page, 'With a picture');
  expect(poster).toMatchObject({ width: 32, height: 18, box: BOX });
  await findRecording('Without').locator('svg').first().waitFor();
  expect(await findRecording('Without').locator('img').count()).toBe(0);
  await expectAccessible(page);
  await findRecording('With a picture').getByRole('button', { name: 'Play' }).click();
  const player = page.getByLabel('Video With a picture');
  expect(new URL((await player.getAttribute('poster')) ?? '', page.url()).href).toBe(poster.src);
});
