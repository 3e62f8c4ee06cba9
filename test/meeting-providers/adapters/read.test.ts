import { anything, assert, constantFrom, double, maxSafeInteger, oneof, property, string } from 'fast-check';
import { expect, test } from 'vitest';
import {
  cleanBytes,
  cleanEmail,
  cleanName,
  cleanReason,
  cleanSeconds,
  cleanTitle,
  cleanToken,
  readFileUrl,
  readTime,
} from '../../../src/features/meeting-providers/adapters/read.ts';

const NOW = new Date('2026-03-02T10:00:00Z');

test('a cleaned text is one well-formed line without control characters, cut between code points', () => {
  const wild = string({
    unit: oneof(string({ unit: 'binary' }), constantFrom('\ud800', '\udc00', '\u0000', '\u0085', '😀')),
  });
  assert(
    property(wild, (text) => {
      for (const [clean, max] of [
        [cleanName, 100],
        [cleanTitle, 200],
        [cleanReason, 500],
      ] as const) {
        const line = clean(text);
        if (line === null) continue;
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toMatch(/\p{Cc}/u);
        expect(line).toBe(line.trim());
        expect([...line].length).toBeLessThanOrEqual(max);
        expect(line).not.toBe('');
        expect(clean(line)).toBe(line);
      }
    }),
    { numRuns: 2000 },
  );
});

test('a text that needs no cleaning does not change', () => {
  for (const text of ['Grace', 'Zoë 😀', '名前', 'x'.repeat(100), '😀'.repeat(100)]) expect(cleanName(text)).toBe(text);
  expect(cleanName('😀'.repeat(101))).toBe('😀'.repeat(100));
  expect(cleanName(`a${'😀'.repeat(100)}`)).toBe(`a${'😀'.repeat(99)}`);
  expect(cleanName(' a\r\n\tb ')).toBe('a b');
  expect(cleanName(`${'x'.repeat(99)} y`)).toBe('x'.repeat(99));
});

test('a token stays unchanged or becomes null', () => {
  expect(cleanToken('x'.repeat(200))).toBe('x'.repeat(200));
  for (const other of ['', 'x'.repeat(201), 'a b', 'a\n', 'ä', 7, null]) expect(cleanToken(other)).toBeNull();
});

test('an invalid email address becomes null', () => {
  expect(cleanEmail(' Grace@Example.COM ')).toBe('grace@example.com');
  for (const other of ['', 'grace', 'a@b', `${'x'.repeat(250)}@example.com`, 'a@b.example\u0000', 7, null]) {
    expect(cleanEmail(other)).toBeNull();
  }
});

test('seconds and bytes are positive integers with a maximum, or null', () => {
  for (const [given, seconds] of [
    [1, 1],
    [1.5, 2],
    ['328', 328],
    ['328.4', 328],
    [60n, 60],
    [0, null],
    [0.4, null],
    [-1, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
    ['1e3', null],
    ['0x10', null],
    ['', null],
    [' 1', null],
    [null, null],
    [[5], null],
    [true, null],
    [31_622_401, null],
    [10n ** 30n, null],
  ] as const) {
    expect(cleanSeconds(given)).toBe(seconds);
  }
  expect(cleanBytes(2 ** 50)).toBe(2 ** 50);
  expect(cleanBytes(2 ** 50 + 1)).toBeNull();
});

test('a time is between 2010 and now', () => {
  assert(
    property(oneof(double(), maxSafeInteger(), anything()), (value) => {
      const moment = readTime(value, NOW).getTime();
      expect(moment).toBeGreaterThanOrEqual(Date.UTC(2010, 0, 1));
      expect(moment).toBeLessThanOrEqual(NOW.getTime());
    }),
  );
  expect(readTime(NOW.getTime() - 1, NOW)).toEqual(new Date(NOW.getTime() - 1));
  expect(readTime(NOW.getTime() + 1, NOW)).toBe(NOW);
  const fallback = new Date(0);
  expect(readTime('x', NOW, fallback)).toBe(fallback);
});

test('the URL of a file is http or https, without a password', () => {
  expect(readFileUrl('http://a.example/b c?d=%20#e')).toEqual({ url: 'http://a.example/b%20c?d=%20#e' });
  for (const other of [
    'a.mp4',
    '//a.example/b',
    'ftp://a.example',
    'javascript:alert(1)',
    'https://',
    'https://a@b.example',
    `https://a.example/${'x'.repeat(2048)}`,
    // Too long only after percent-encoding.
    `https://a.example/${'ä'.repeat(1000)}`,
    7,
    null,
  ]) {
    expect(readFileUrl(other)).toBeNull();
  }
});
