/** Addresses that other programs know. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../src/runtime/config.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({
    settings: { securityContact: 'mailto:security@example.com', publicUrl: 'https://meet.example.com' },
  });
});
afterAll(() => app.close());

test('security.txt names the contact, and expires in less than a year', async () => {
  const response = await fetch(`${app.url}/.well-known/security.txt`);
  const text = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text).toMatch(/^Contact: mailto:security@example\.com\nExpires: \S+Z\nPreferred-Languages: en\n/);
  expect(text).toContain('Canonical: https://meet.example.com/.well-known/security.txt\n');
  const expires = Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '');
  const days = (expires - app.clock.now().getTime()) / 86_400_000;
  expect([days > 90, days < 365]).toEqual([true, true]);
});

test('there is none without a contact', async () => {
  const other = await startTestApp({ sharedDatabase: app });
  try {
    expect((await fetch(`${other.url}/.well-known/security.txt`)).status).toBe(404);
  } finally {
    await other.close();
  }
});

test.each(['mailto:security@example.com', 'https://example.com/security', 'tel:+1-201-555-0123'])(
  '%s is a contact',
  (SECURITY_CONTACT) => {
    expect(readConfig({ SECURITY_CONTACT }).SECURITY_CONTACT).toBe(SECURITY_CONTACT);
  },
);

test.each(['security@example.com', 'http://example.com', 'mailto:', 'mailto:a@b.c\nExpires: never'])(
  '%j is none',
  (SECURITY_CONTACT) => {
    expect(() => readConfig({ SECURITY_CONTACT })).toThrow('SECURITY_CONTACT must be a mailto:');
  },
);
