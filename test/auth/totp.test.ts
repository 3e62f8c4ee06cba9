/** Codes of authenticator apps, with the test vectors of RFC 6238, RFC 4226 and RFC 4648. */
import { describe, expect, test } from 'vitest';
import { codeOf, createTotpSecret, findStep, fromBase32, stepAt, toBase32, toOtpauthUri } from '../../src/auth/totp.ts';

const SECRET = Buffer.from('12345678901234567890');

test.each([
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
])('RFC 6238, appendix B: at %i the code is %s', (seconds, code) => {
  expect(codeOf(SECRET, stepAt(new Date(seconds * 1000)), 8)).toBe(code);
});

test('RFC 4226, appendix D: the codes of the counters 0 to 9', () => {
  expect(Array.from({ length: 10 }, (_, counter) => codeOf(SECRET, counter))).toEqual([
    '755224',
    '287082',
    '359152',
    '969429',
    '338314',
    '254676',
    '287922',
    '162583',
    '399871',
    '520489',
  ]);
});

test.each([
  ['f', 'MY'],
  ['fo', 'MZXQ'],
  ['foo', 'MZXW6'],
  ['foob', 'MZXW6YQ'],
  ['fooba', 'MZXW6YTB'],
  ['foobar', 'MZXW6YTBOI'],
])('RFC 4648, section 10: %j in base32 is %s without padding', (text, base32) => {
  expect(toBase32(Buffer.from(text))).toBe(base32);
  expect(Buffer.from(fromBase32(base32)).toString()).toBe(text);
});

describe('a code', () => {
  const secret = toBase32(SECRET);
  const now = new Date('2026-03-01T12:00:10Z');
  const current = stepAt(now);
  const find = (step: number, lastStep = 0) => findStep(secret, codeOf(SECRET, step), now, lastStep);

  test('is accepted one step early or late, and not two', () => {
    expect([-2, -1, 0, 1, 2].map((by) => find(current + by))).toEqual([null, current - 1, current, current + 1, null]);
  });

  test('is refused if it, or a later one, was accepted before', () => {
    expect(find(current, current)).toBeNull();
    expect(find(current - 1, current)).toBeNull();
    expect(find(current + 1, current)).toBe(current + 1);
  });

  test.each(['', '12345', '1234567', 'abcdef', '٣٣٣٣٣٣'])('%j is wrong', (code) => {
    expect(findStep(secret, code, now, 0)).toBeNull();
  });
});

test('a secret has 160 bits, and its URI names the issuer and the account', () => {
  const secret = createTotpSecret();
  expect(fromBase32(secret)).toHaveLength(20);
  expect(createTotpSecret()).not.toBe(secret);
  expect(toOtpauthUri({ secret, issuer: 'Lynxroom', account: 'a+b@example.com' })).toBe(
    `otpauth://totp/Lynxroom:a%2Bb%40example.com?secret=${secret}&issuer=Lynxroom&algorithm=SHA1&digits=6&period=30`,
  );
});
