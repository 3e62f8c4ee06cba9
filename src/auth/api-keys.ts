/** The form of API keys: `lnx_` and 40 base62 characters, of which the last six are a checksum of those before. */
import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const KEY_PREFIX = 'lnx_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_CHARACTERS = 34;
const CHECKSUM_CHARACTERS = 6;
const VISIBLE_CHARACTERS = 8;

const API_KEY = /^lnx_[0-9A-Za-z]{40}$/;

/** A new key: 34 characters from a CSPRNG are 202 bits. */
export function createApiKey(): string {
  let text = KEY_PREFIX;
  for (let index = 0; index < RANDOM_CHARACTERS; index += 1) text += ALPHABET.charAt(randomInt(ALPHABET.length));
  return text + checksumOf(text);
}

/** CRC-32 in base62, most significant first: lets a mistyped or truncated key be refused without a query. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let checksum = '';
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    checksum = ALPHABET.charAt(rest % ALPHABET.length) + checksum;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return checksum;
}

/** Whether the text has the form and the checksum of a key. */
export function isApiKey(text: string): boolean {
  return API_KEY.test(text) && checksumOf(text.slice(0, -CHECKSUM_CHARACTERS)) === text.slice(-CHECKSUM_CHARACTERS);
}

/** What stays visible of a key after its creation. */
export function keyPrefixOf(key: string): string {
  return key.slice(0, VISIBLE_CHARACTERS);
}
