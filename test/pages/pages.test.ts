/** The small pages: what they load, and what other sites may do with them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pages } from '../../src/pages/pages.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

describe.each(Object.entries(pages))('%s', (path, { title }) => {
  test('loads everything from the service, and runs no inline script or style', async () => {
    const { status, headers, body } = await app.http.get(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe-inline');
    const html = String(body);
    expect(html).not.toMatch(/<script>| on\w+=| style=|<style/);
    for (const [, file = ''] of html.matchAll(/ (?:src|href)="([^"]+)"/g)) {
      expect(file).toMatch(/^\//);
      expect((await app.http.get(file)).status, file).toBe(200);
    }
  });

  test('is in no frame of another site, and tells no other site its address', async () => {
    const { headers } = await app.http.get(path);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('has a language, one heading, a label for each field, and a region that is read out', async () => {
    const html = String((await app.http.get(path)).body);
    expect(html).toContain('<html lang="en">');
    expect([...html.matchAll(/<h1[^>]*>([^<]*)<\/h1>/g)].map(([, text]) => text)).toEqual([title]);
    expect(html).toContain('role="status"');
    for (const [, id = ''] of html.matchAll(/<input id="([^"]+)"/g)) expect(html).toContain(`<label for="${id}"`);
  });
});

test('a script of a page imports only what the service has', async () => {
  for (const { script } of Object.values(pages)) {
    if (script === null) continue;
    const { body, headers } = await app.http.get(`/pages/${script}`);
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    for (const [, file = ''] of String(body).matchAll(/from '\.\/([^']+)'/g))
      expect((await app.http.get(`/pages/${file}`)).status, file).toBe(200);
  }
});
