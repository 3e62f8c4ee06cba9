/** Codes of authenticator apps: TOTP (RFC 6238) with SHA-1, 6 digits and 30-second steps, which all apps support. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { SECOND_MS } from '../core/time.ts';

const STEP_MS = 30 * SECOND_MS;
/** The length that RFC 4226, section 4, recommends. */
const SECRET_BYTES = 20;
const DIGITS = 6;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Creates a secret in base32, the form that apps accept. */
export function createTotpSecret(): string {
  return toBase32(randomBytes(SECRET_BYTES));
}

/** The number of the time step at `now`. */
export function stepAt(now: Date): number {
  return Math.floor(now.getTime() / STEP_MS);
}

/** The code of a step (RFC 4226, section 5.3). */
export function codeOf(secret: Uint8Array, step: number, digits = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const hmac = createHmac('sha1', secret).update(counter).digest();
  const offset = hmac.readUInt8(hmac.length - 1) & 0x0f;
  const number = (hmac.readUInt32BE(offset) & 0x7fff_ffff) % 10 ** digits;
  return String(number).padStart(digits, '0');
}

/**
 * Finds the step of a code: the current step or a neighbor, since clocks differ. It must be later than `lastStep`.
 * Returns null if the code is wrong.
 */
export function findStep(secret: string, code: string, now: Date, lastStep: number): number | null {
  const key = fromBase32(secret);
  const current = stepAt(now);
  const given = Buffer.from(code);
  const found = [current, current - 1, current + 1].find((step) => {
    const expected = Buffer.from(codeOf(key, step));
    return step > lastStep && given.length === expected.length && timingSafeEqual(given, expected);
  });
  return found ?? null;
}

/** Whether a string has the format of a code. */
export function isTotpCode(text: string): boolean {
  return /^[0-9]{6}$/.test(text);
}

/** The URI that apps read from a QR code (https://github.com/google/google-authenticator/wiki/Key-Uri-Format). */
export function toOtpauthUri({ secret, issuer, account }: Record<'secret' | 'issuer' | 'account', string>): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const query = new URLSearchParams({ secret, issuer, algorithm: 'SHA1', digits: '6', period: '30' });
  return `otpauth://totp/${label}?${query}`;
}

/** RFC 4648 without padding. */
export function toBase32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += BASE32.charAt((value >>> (bits - 5)) & 31);
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32.charAt((value << (5 - bits)) & 31);
}

/** The inverse of `toBase32`. */
export function fromBase32(text: string): Uint8Array {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text) {
    value = (value << 5) | BASE32.indexOf(character);
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((value >>> bits) & 255);
    value &= (1 << bits) - 1;
  }
  return Uint8Array.from(bytes);
}
