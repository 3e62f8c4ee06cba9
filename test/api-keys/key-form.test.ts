/** The format of API keys: long, random, and with a checksum that detects every change of one character. */
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { generateApiKey, isApiKey, keyPrefixOf } from '../../src/auth/api-keys.ts';
import { hashToken } from '../../src/auth/tokens.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

test('a key is lnx_ and 40 base62 characters, and its first 8 characters stay visible', () => {
  const key = generateApiKey();
  expect(key).toMatch(/^lnx_[0-9A-Za-z]{40}$/);
  expect(isApiKey(key)).toBe(true);
  expect(keyPrefixOf(key)).toBe(key.slice(0, 8));
});

test('the last six characters are the CRC-32 of the characters before, in base62', () => {
  const key = generateApiKey();
  const value = [...key.slice(-6)].reduce((sum, character) => sum * 62 + BASE62.indexOf(character), 0);
  expect(value).toBe(crc32(key.slice(0, -6)));
});

test('ten thousand keys are different, and have every character in every position', () => {
  const keys = Array.from({ length: 10_000 }, generateApiKey);
  expect(new Set(keys).size).toBe(keys.length);
  for (let place = 4; place < 38; place += 1)
    expect(new Set(keys.map((key) => key[place])).size, `place ${place}`).toBe(62);
});

test('a key with any one character changed is invalid', () => {
  const key = generateApiKey();
  for (let place = 0; place < key.length; place += 1)
    for (const other of BASE62)
      if (key[place] !== other)
        expect(isApiKey(key.slice(0, place) + other + key.slice(place + 1)), `${place} ${other}`).toBe(false);
});

test('other texts are invalid', () => {
  const key = generateApiKey();
  const texts = ['', 'lnx_', key.slice(0, -1), `${key}0`, `${key}\n`, ` ${key}`, `${key} `, key.toUpperCase()];
  for (const text of [
    ...texts,
    key.toLowerCase(),
    `lns_${key.slice(4)}`,
    key.replace('lnx_', 'LNX_'),
    `lnx_${'A'.repeat(40)}`,
  ])
    expect(isApiKey(text), JSON.stringify(text)).toBe(false);
});

test('the hash of a key is the SHA-256 of the whole key', () => {
  const key = generateApiKey();
  expect(Buffer.from(hashToken(key))).toEqual(createHash('sha256').update(key).digest());
});
