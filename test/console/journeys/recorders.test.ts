/** What browsers record: it is uploaded while it is made, its duration is right, and the other browser plays it. */
import type { Browser as Firefox } from 'puppeteer-core';
import { afterAll, expect } from 'vitest';
import { createHttp } from '../../support/http.ts';
import { openInFirefox, startFirefox } from './support/firefox.ts';
import { firefoxPath } from './support/firefox-path.ts';
import { journey } from './support/journey.ts';

const SECONDS = 5.3;
/** Durations are whole seconds, and the browser counts the last picture to its end. */
const TOLERANCE = 0.5 + 0.1;

type Kind = {
  by: 'Chromium' | 'Firefox';
  type: string;
  /** The file stays a WebM if its pictures are VP8, which no player expects in an MP4. */
  becomes: 'video/mp4' | 'video/webm';
  has?: { video: true; audio?: true };
};

const kinds: Kind[] = [
  { by: 'Chromium', type: 'video/mp4', becomes: 'video/mp4' },
  { by: 'Chromium', type: 'video/mp4;codecs=avc1.64003E,opus', becomes: 'video/mp4' },
  { by: 'Chromium', type: 'video/mp4;codecs=vp9', becomes: 'video/mp4', has: { video: true } },
  { by: 'Chromium', type: 'video/webm;codecs=vp8,opus', becomes: 'video/webm' },
  { by: 'Chromium', type: 'video/webm;codecs=vp9,opus', becomes: 'video/mp4' },
  { by: 'Firefox', type: 'video/webm', becomes: 'video/webm' },
  { by: 'Firefox', type: 'video/webm;codecs=vp8', becomes: 'video/webm', has: { video: true } },
];

let firefox: Promise<Firefox> | undefined;
afterAll(async () => (await firefox)?.close());

if (firefoxPath !== undefined) for (const kind of kinds) journeyOf(kind);

function journeyOf({ by, type, becomes, has = { video: true, audio: true } }: Kind): void {
  const tracks = Object.keys(has).join(' and ');
  journey(`${tracks} that ${by} records as ${type} have the right duration, and play elsewhere`, async (world) => {
    const { id: workspaceId, owner } = await world.newTeam();
    const http = createHttp(world.url);
    const { room } = (await http.post('/api/dashboard/rooms', owner.token, { workspace_id: workspaceId })).body;
    const recordings = `/api/dashboard/rooms/${room.name}/recordings`;
    const { recording, upload_token: token } = (await http.post(recordings, owner.token, {})).body;
    await http.post(`${recordings}/${recording.id}/stop`, owner.token, {});

    firefox ??= startFirefox();
    const inChromium = await world.open('/account', owner);
    const inFirefox = await openInFirefox(await firefox, `${world.url}/account`, owner.token);
    const evaluate = {
      Chromium: (script: string) => inChromium.evaluate(script),
      Firefox: (script: string) => inFirefox.evaluate(script),
    };
    const input = { type, has, token, endpoint: `/api/recordings/${recording.id}/uploads`, ms: SECONDS * 1_000 };
    // `as`: what the scripts return.
    const recorded = (await evaluate[by](`(${RECORD})(${JSON.stringify(input)})`)) as { seconds: number };
    expect(recorded.seconds).toBeGreaterThan(1);

    const read = async () => {
      const { body } = await http.get(recordings, owner.token);
      return body.recordings.find(({ id }: { id: number }) => id === recording.id);
    };
    await expect.poll(async () => (await read()).status).toBe('available');
    expect(Math.abs((await read()).duration - recorded.seconds)).toBeLessThanOrEqual(TOLERANCE);

    const address = `/api/dashboard/recordings/${recording.id}/download`;
    const file = await fetch(world.url + address, { headers: { authorization: `Bearer ${owner.token}` } });
    await file.body?.cancel();
    expect(file.headers.get('content-type')).toBe(becomes);
    const seekTo = recorded.seconds / 2;
    const other = by === 'Chromium' ? 'Firefox' : 'Chromium';
    const played = (await evaluate[other](`(${PLAY})(${JSON.stringify({ address, seekTo })})`)) as {
      seconds: number;
      position: number;
      width: number;
    };
    expect(played.position).toBeGreaterThanOrEqual(seekTo + 1);
    expect(played.width).toBeGreaterThan(0);
    expect(Math.abs(played.seconds - recorded.seconds)).toBeLessThan(0.5);
    await inFirefox.close();
  });
}

/** Records the camera and the microphone, and sends the parts as they are made. Then measures what was recorded. */
const RECORD = `async ({ type, has, endpoint, token, ms }) => {
  const send = async (method, url, headers, body) => {
    const authorization = 'Bearer ' + token;
    const init = { method, body, headers: { authorization, 'tus-resumable': '1.0.0', ...headers } };
    const response = await fetch(url, init);
    if (!response.ok) throw new Error(method + ' ' + response.status + ' ' + (await response.text()));
    return response.headers;
  };
  const extension = type.startsWith('video/mp4') ? 'mp4' : 'webm';
  const metadata = { 'upload-defer-length': '1', 'upload-metadata': 'filename ' + btoa('recording.' + extension) };
  const upload = (await send('POST', endpoint, metadata)).get('location');
  let offset = 0;
  let sending = Promise.resolve();
  const append = (bytes, headers) => {
    sending = sending.then(async () => {
      const about = { 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream', ...headers };
      await send('PATCH', upload, about, bytes);
      offset += bytes.size;
    });
  };
  const stream = await navigator.mediaDevices.getUserMedia(has);
  const recorder = new MediaRecorder(stream, { mimeType: type });
  const parts = [];
  recorder.ondataavailable = ({ data }) => {
    parts.push(data);
    append(data);
  };
  const stopped = new Promise((resolve) => { recorder.onstop = resolve; });
  recorder.start(1000);
  await new Promise((resolve) => setTimeout(resolve, ms));
  recorder.stop();
  await stopped;
  for (const track of stream.getTracks()) track.stop();
  const file = new Blob(parts, { type });
  append(new Blob([]), { 'upload-length': String(file.size) });
  await sending;
  const video = document.createElement('video');
  video.src = URL.createObjectURL(file);
  await new Promise((resolve, reject) => {
    video.onerror = () => reject(new Error(video.error.message));
    video.onloadedmetadata = resolve;
  });
  // The browser learns the duration of such a file at its end. Firefox may never get there by seeking.
  video.muted = true;
  const ended = new Promise((resolve) => { video.onended = resolve; });
  await video.play();
  await ended;
  return { seconds: video.currentTime };
}`;

/** Seeks in a video, and plays a second of it from there. */
const PLAY = `async ({ address, seekTo }) => {
  const video = document.createElement('video');
  document.body.append(video);
  // As the player of the console.
  video.preload = 'metadata';
  video.muted = true;
  const happens = (name) => new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true });
    video.addEventListener('error', () => reject(new Error(name + ': ' + video.error.message)), { once: true });
    setTimeout(() => reject(new Error(name + ' did not happen at ' + video.currentTime)), 60_000);
  });
  const loaded = happens('loadedmetadata');
  video.src = address;
  await loaded;
  const seeked = happens('seeked');
  video.currentTime = seekTo;
  await seeked;
  await video.play();
  while (video.currentTime < seekTo + 1) await happens('timeupdate');
  video.pause();
  return { seconds: video.duration, position: video.currentTime, width: video.videoWidth };
}`;
