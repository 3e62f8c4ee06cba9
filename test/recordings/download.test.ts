/** The URL of a recording as the source of a video: it redirects to the file, for a session's cookie too. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeMp4 } from '../support/media.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, PASSWORD, type Person } from '../support/world.ts';
import { uploadFile, videoForm } from './recording-fixtures.ts';

const ROOMS = '/api/dashboard/rooms';
const MP4 = makeMp4({ durationSeconds: 3, moov: 'front', mdatBytes: 10_000 });

let app: TestApp;
let person: Person;
/** The `url` of the recording. */
let url: string;
let cookie: string;
beforeAll(async () => {
  app = await startTestApp();
  person = await addPerson(app);
  const { room } = (await app.http.post(ROOMS, person.token, {})).body;
  const { recording, upload_token } = (await app.http.post(`${ROOMS}/${room.name}/recordings`, person.token)).body;
  url = (await uploadFile(app, recording.id, upload_token, videoForm(MP4))).body.recording.url;
  const login = await app.http.post('/api/auth/login', undefined, { email: person.email, password: PASSWORD });
  cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
});
afterAll(() => app.close());

function get(headers: Record<string, string>, redirect: 'manual' | 'follow' = 'manual', method = 'GET') {
  return fetch(url, { method, headers, redirect });
}

test('a media element with the cookie gets the file, by ranges too', async () => {
  // What browsers send for <video src>.
  const media = { cookie, accept: '*/*', 'sec-fetch-dest': 'video', 'sec-fetch-mode': 'no-cors' };
  const whole = await get({ ...media, range: 'bytes=0-' }, 'follow');
  expect([whole.status, whole.headers.get('content-range')]).toEqual([206, `bytes 0-${MP4.length - 1}/${MP4.length}`]);
  expect(Buffer.from(await whole.arrayBuffer()).equals(MP4)).toBe(true);
  const part = await get({ ...media, range: 'bytes=100-199' }, 'follow');
  expect([part.status, part.headers.get('content-type')]).toEqual([206, 'video/mp4']);
  expect(part.headers.get('accept-ranges')).toBe('bytes');
  expect(Buffer.from(await part.arrayBuffer()).equals(MP4.subarray(100, 200))).toBe(true);
});

test('each request is redirected to a fresh URL, which no cache may store', async () => {
  const response = await get({ cookie });
  expect(response.status).toBe(302);
  expect(response.headers.get('location')).toMatch(new RegExp(`^${app.url}/files/`));
  expect(response.headers.get('cache-control')).toBe('private, no-store');
  expect(response.headers.get('vary')).toContain('accept');
  // Otherwise a page of another origin of the same site could not show the video.
  expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  const head = await get({ cookie }, 'follow', 'HEAD');
  expect([head.status, head.headers.get('content-length')]).toEqual([200, `${MP4.length}`]);
  app.clock.advance(1_000_000);
  expect((await fetch(response.headers.get('location') ?? '')).status).toBe(403);
  expect((await get({ cookie }, 'follow')).status).toBe(200);
});

test.each([
  ['application/json', true],
  ['application/json, text/plain, */*', true],
  ['text/html;q=0.9, Application/JSON;q=0.1', true],
  ['application/json; charset=utf-8', true],
  ['*/*', false],
  ['', false],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', false],
  ['application/json;q=0, */*', false],
  ['application/json-seq', false],
  ['application/*', false],
])('Accept: %s gets JSON: %s', async (accept, isJson) => {
  const authorization = `Bearer ${person.token}`;
  const response = await get({ authorization, accept });
  expect(response.status).toBe(isJson ? 200 : 302);
  if (isJson) expect(await response.json()).toEqual({ url: expect.any(String), expires_at: expect.any(Number) });
});

test('a refusal is JSON, whatever is accepted', async () => {
  for (const [path, headers, status] of [
    [url, {}, 401],
    [url.replace(/\d+\/download$/, '2147483647/download'), { cookie }, 404],
    [url.replace(/\d+\/download$/, 'x/download'), { cookie }, 400],
  ] as const) {
    const response = await fetch(path, { headers: { ...headers, accept: 'video/*' }, redirect: 'manual' });
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ code: expect.any(String) }),
    ]);
  }
});

test('tRPC returns the URL, and the document describes both responses', async () => {
  const recordingId = Number(/(\d+)\/download$/.exec(url)?.[1]);
  const answer = await person.client.recordings.download.query({ recordingId });
  expect(answer.url).toContain('/files/');
  const { paths } = (await app.http.get('/openapi.json')).body;
  const { responses } = paths['/api/dashboard/recordings/{recordingId}/download'].get;
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(['200', '302', '404']));
  expect(responses[302].headers.Location.schema.type).toBe('string');
  expect(paths['/api/workspaces/{id}/library/{itemId}/download'].get.responses).not.toHaveProperty('302');
});
