/** How the server serves the built console. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exchangeRequest } from '../support/raw-http.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

const PAGE = '<!doctype html><title>Console</title><script src="/assets/index-abc.js"></script>';
const SCRIPT = `console.info(${JSON.stringify('x'.repeat(2_000))});`;
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

let dir: string;
let app: TestApp;
let withoutConsole: TestApp;
beforeAll(async () => {
  dir = await makeTempDir();
  await mkdir(join(dir, 'assets'));
  await Promise.all([
    writeFile(join(dir, 'index.html'), PAGE),
    writeFile(join(dir, 'theme.js'), '// theme'),
    writeFile(join(dir, '.fingerprint'), 'secret'),
    writeFile(join(dir, 'assets/index-abc.js'), SCRIPT),
    writeFile(join(dir, 'assets/index-abc.js.br'), brotliCompressSync(SCRIPT)),
    writeFile(join(dir, 'assets/index-abc.js.gz'), gzipSync(SCRIPT)),
  ]);
  [app, withoutConsole] = await Promise.all([
    startTestApp({ consoleDir: dir, storageOrigins: ['https://files.example.com'] }),
    startTestApp({ consoleDir: join(dir, 'missing') }),
  ]);
});
afterAll(async () => {
  await Promise.all([app.close(), withoutConsole.close()]);
  await rm(dir, { recursive: true, force: true });
});

/** Sends a request without the defaults of `fetch`. */
async function get(path: string, headers: Record<string, string> = {}, { url } = app): Promise<Response> {
  return fetch(`${url}${path}`, {
    headers: { accept: '*/*', 'accept-encoding': 'identity', ...headers },
    redirect: 'manual',
  });
}

describe('the page', () => {
  test.each([
    '/',
    '/register',
    '/w/1/library',
    '/w/1/rooms/7?tab=guests',
    '/join/abc/more',
    '/book/ada/cancel',
    '/api-keys',
    '/filesystem',
  ])('is the response to a navigation to %s', async (path) => {
    const response = await get(path, browser);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await response.text()).toBe(PAGE);
  });

  test('is checked for changes each time, and has an ETag', async () => {
    const { headers } = await get('/', { ...browser, 'accept-encoding': 'br' });
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('vary')).toMatch(/\bAccept\b/);
    const again = await get('/', { ...browser, 'if-none-match': headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  });

  test('runs and loads nothing but files of the service and of the store, and is in no frame', async () => {
    const { headers } = await get('/', browser);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).not.toMatch(/unsafe-/);
    for (const directive of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"])
      expect(policy.split('; ')).toContain(directive);
    expect(policy).toContain("media-src 'self' https://files.example.com");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test.each(['/room/weekly', '/Room/Weekly?x=1', '/%72oom/weekly'])(
    'may use the camera, the microphone and the screen at %s',
    async (path) => {
      const { headers } = await get(path, browser);
      const allowed = 'camera=(self), microphone=(self), display-capture=(self)';
      expect(headers.get('permissions-policy')).toBe(allowed);
      expect(headers.get('content-security-policy')).toMatch(/worker-src 'self'(;|$)/);
      expect(headers.get('content-security-policy')).not.toContain('wasm');
    },
  );

  test.each(['/', '/rooms/weekly', '/room', '/w/1/room/weekly', '/account'])(
    'has no such header at %s',
    async (path) => {
      expect((await get(path, browser)).headers.get('permissions-policy')).toBeNull();
    },
  );

  test.each([
    '/api',
    '/api/unknown',
    '/API/unknown',
    '/%61pi/unknown',
    '/trpc',
    '/trpc/unknown/more',
    '/mcp',
    '/mcp/unknown',
    '/.well-known/unknown',
    '/files',
    '/files/unknown',
    '/docs/unknown',
    '/openapi.json/unknown',
    '/openapi-3.0.json/unknown',
    '/llms.txt/unknown',
    '/health/unknown',
    '/ready/unknown',
    '/metrics',
    '/assets/unknown.js',
    '/pages/unknown.js',
    '/dev/mail',
  ])('is never the response at %s', async (path) => {
    const response = await get(path, browser);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
  });

  test.each([
    '/health',
    '/ready',
    '/docs',
    '/openapi.json',
    '/openapi-3.0.json',
    '/llms.txt',
    '/verify-email',
    '/reset-password',
    '/invitation',
    '/sign-in/return',
  ])('does not replace %s', async (path) => {
    const response = await get(path, browser);
    expect(response.status).toBe(200);
    expect(await response.text()).not.toBe(PAGE);
  });

  test.each([
    ...[
      '/',
      '/register',
      '/w/1',
      '/w/1/library',
      '/account',
      '/oauth/authorize',
      '/oauth/unknown',
      '/dev/mail',
      '/open',
    ],
    ...['/room/weekly', '/join/abc', '/book/ada', '/booking/abc', '/embed/room/weekly', '/embed/library/1'],
    ...['/verify-email', '/reset-password', '/invitation', '/sign-in/return', '/docs', '/docs/guides', '/docs/unknown'],
    ...['/docs/guides/rooms', '/llms.txt', '/openapi.json', '/theme.js', '/health', '/api/unknown'],
  ])('is answered to HEAD as to GET, without its body: %s', async (target) => {
    const exchange = async (method: string, headers: Record<string, string>) => {
      const { status, head, body } = await exchangeRequest(app.url, { method, target, headers });
      const lines = head.split('\r\n').slice(1);
      return {
        status,
        fields: lines.filter((line) => !/^(?:date|x-request-id|ratelimit-\w+):/i.test(line)).sort(),
        body,
      };
    };
    for (const accept of ['*/*', 'application/json', browser.accept]) {
      const headers = { accept, 'accept-encoding': 'identity' };
      const { body, ...answer } = await exchange('GET', headers);
      expect(await exchange('HEAD', headers), accept).toEqual({ ...answer, body: '' });
    }
    const { fields } = await exchange('GET', { ...browser, 'accept-encoding': 'br' });
    const etag = fields.find((line) => /^etag:/i.test(line))?.slice('etag: '.length);
    if (etag === undefined) return;
    const unchanged = await exchange('HEAD', { ...browser, 'if-none-match': etag });
    expect([unchanged.status, unchanged.body]).toEqual([304, '']);
  });

  test('is only the response to a GET or HEAD of a browser', async () => {
    expect((await get('/w/1/library')).status).toBe(404);
    expect((await get('/w/1/library', { accept: 'application/json' })).status).toBe(404);
    for (const method of ['POST', 'DELETE']) {
      const { status } = await fetch(`${app.url}/w/1/library`, { method, headers: browser });
      expect([method, status]).toEqual([method, 404]);
    }
  });
});

describe('a file', () => {
  test('with a hash in its name is stored for ever', async () => {
    const { status, headers } = await get('/assets/index-abc.js');
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  });

  test('without one is checked for changes each time', async () => {
    expect((await get('/theme.js')).headers.get('cache-control')).toBe('no-cache');
  });

  test.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip;q=1, br;q=0.5', 'gzip'],
    ['identity', null],
  ])('is sent as the build has compressed it, for Accept-Encoding: %s', async (accepted, encoding) => {
    const response = await get('/assets/index-abc.js', { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    const length = { br: brotliCompressSync(SCRIPT).length, gzip: gzipSync(SCRIPT).length }[encoding ?? ''];
    expect(Number(response.headers.get('content-length'))).toBe(length ?? SCRIPT.length);
    expect(await response.text()).toBe(SCRIPT);
  });

  test.each([
    '/assets/missing.js',
    '/assets/index-abc.js.br',
    '/assets/../../package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/w/../../package.json',
    '/..%5c..%5cpackage.json',
    '/assets/%00',
  ])('that is not part of the console is a 404 in JSON: %s', async (target) => {
    for (const accept of ['*/*', browser.accept]) {
      const { status, head } = await exchangeRequest(app.url, { target, headers: { accept } });
      expect([accept, status]).toEqual([accept, 404]);
      expect(head).toMatch(/^content-type: application\/json/im);
    }
  });

  test('that is hidden is not part of the console', async () => {
    expect((await get('/.fingerprint')).status).toBe(404);
    expect(await (await get('/.fingerprint', browser)).text()).toBe(PAGE);
  });

  test('takes no other method', async () => {
    const { status, headers } = await fetch(`${app.url}/assets/index-abc.js`, { method: 'POST' });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the bare address', () => {
  test('leads programs to the reference', async () => {
    const { status, headers } = await get('/');
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
  });

  test('leads browsers there too, if no console was built', async () => {
    const { status, headers } = await get('/', browser, withoutConsole);
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
    expect((await get('/w/1/library', browser, withoutConsole)).status).toBe(404);
  });
});
