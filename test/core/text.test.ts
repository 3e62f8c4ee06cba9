import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeName, normalizeText } from '../../src/core/text.ts';

test('a name is trimmed and in NFC', () => {
  expect(normalizeName(' U\u0308ber E\u0301te\u0301.pdf\u00a0')).toBe('\u00dcber \u00c9t\u00e9.pdf');
  expect(normalizeName('\u1112\u1161\u11ab')).toBe('\ud55c');
  expect(normalizeName('\u2126')).toBe('\u03a9');
});

test('a name loses bidirectional overrides, embeddings and isolates, and a text keeps them', () => {
  expect(normalizeName('a\u202efdp.exe')).toBe('afdp.exe');
  for (const control of '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069') {
    expect(normalizeName(`a${control}b`)).toBe('ab');
    expect(normalizeText(`a${control}b`)).toBe(`a${control}b`);
  }
});

describe('what has no visible character becomes empty', () => {
  test.each([
    ...['', ' ', '\u3000', '\t\r\n', '\u200b', '\u200d', '\u2060', '\u00ad', '\ufeff', '\u2800', '\u3164', '\u115f'],
    ...['\u034f', '\u061c', '\u180e', '\ufe0f', '\u{e0020}', '\u{1d159}', '\u0000', '\u0007', '\u0085', '\uffff'],
    ...['\u202e', '\u2066 \u2069', ' \u200b\u2060 \u00ad\u200e'],
  ])('%j', (text) => {
    expect([normalizeName(text), normalizeText(text)]).toEqual(['', '']);
  });
});

test.each(['x', '-', '\u0301', '😀', '❤\ufe0f', '👩\u200d👩\u200d👧', '\u200bx', 'می\u200cخواهم', '\ud800', '\ue000'])(
  'what is visible stays: %j',
  (text) => {
    expect(normalizeName(text)).toBe(text);
  },
);

test('at most 30 combining marks stay in a row, so that a text of any marks is normalized in linear time', () => {
  expect(normalizeText(`x${'\u0323\u0305'.repeat(100_000)}y`)).toHaveLength(1 + 30 + 1);
});

test('normalizing again changes nothing', () => {
  const unit = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u0301', '\u0323', '\u202e', '\u2069', ' ', '\u200b', '\u2000', '\u1fef', '\ud800'),
  );
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      for (const normalize of [normalizeName, normalizeText]) {
        const once = normalize(text);
        expect(normalize(once)).toBe(once);
        expect(once).toBe(once.normalize('NFC').trim());
      }
    }),
    { numRuns: 2000 },
  );
});
