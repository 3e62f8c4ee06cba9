/**
 * The format of API keys: `lnx_` and 40 base62 characters. The last six are a checksum of all characters before them.
 */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const KEY_PREFIX = 'lnx_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 34;
const CHECKSUM_CHARACTERS = 6;
const VISIBLE_CHARACTERS = 8;

const API_KEY = /^lnx_[0-9A-Za-z]{40}$/;

/** Creates a key with 34 random characters, which is 202 bits. */
export function generateApiKey(): string {
  let text = KEY_PREFIX;
  for (let index = 0; index < RANDOM_CHARACTERS; index += 1) text += ALPHABET.charAt(randomInt(ALPHABET.length));
  return text + checksumOf(text);
}

/** CRC-32 in base62, most significant digit first. A mistyped or truncated key is thus rejected without a query. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let checksum = '';
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    checksum = ALPHABET.charAt(rest % ALPHABET.length) + checksum;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return checksum;
}

/** Whether the text has the format and a correct checksum. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text) && checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}

/** The part of a key that stays visible after its creation. */
export function keyPrefixOf(key: string): string {
  return key.slice(0, VISIBLE_CHARACTERS);
}
