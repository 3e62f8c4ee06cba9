/** Values that programs often handle badly. None contains text that `fuzz.test.ts` takes for a leak. */
import type { Random } from './random.ts';

const NUMBERS: readonly unknown[] = [
  0,
  -0,
  -1,
  1,
  1.5,
  1e21,
  -1e308,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  100,
  101,
  1_795_000_000_000,
];

const TEXTS: readonly string[] = [
  '',
  ' ',
  '\t\n',
  '0',
  '-1',
  '1e3',
  '0x10',
  '007',
  '1.0',
  'NaN',
  'Infinity',
  'true',
  'null',
  'undefined',
  '[]',
  '{}',
  '\u0000',
  'a\u0000b',
  '\u200b',
  '\u00ad',
  '\u202e',
  '\ud800',
  '\udfff',
  '\ufeff',
  'e\u0301',
  '\u00e9',
  'ß',
  'İ',
  '👩‍👩‍👧‍👦',
  '%',
  '%00',
  '%_%',
  '\\',
  '\\u0000',
  "'",
  '"',
  "' or 1=1 --",
  '$1',
  '{{7*7}}',
  '<b>x</b>',
  '=1+1',
  '../../etc/passwd',
  '..%2f..',
  'a/b',
  'a?b#c',
  'CON',
  '.',
  '..',
  '__proto__',
  'constructor',
  'toString',
  'http://127.0.0.1:1/',
  'http://[::1]/',
  'https://example.com/hook',
  'ftp://example.com',
  'javascript:alert(1)',
  'data:text/html,x',
  'http://example.com:99999',
  '2026-02-30',
  '2026-06-15T12:00:00Z',
  '275760-09-13',
  'Europe/Berlin',
  'Mars/Olympus',
  'P1D',
  '10:00',
  '24:00',
  '25:61',
  '#fff',
  '#FFFFFFF',
  'pdf',
  'mp4',
  'asc',
  'name',
  'owner',
  'admin',
  'member',
  'room.created',
  'x'.repeat(64),
  'x'.repeat(65),
  'x'.repeat(256),
  'x'.repeat(10_000),
  'é'.repeat(5_000),
];

const OTHERS: readonly unknown[] = [
  null,
  true,
  false,
  [],
  {},
  [null],
  [[]],
  [1, 'a', null],
  { a: 1 },
  { length: 1e9 },
  { toString: 'x' },
  // biome-ignore lint/suspicious/noThenProperty: a body that looks like a promise is one of the cases
  { then: 1 },
  ['room.created'],
  ['room.created', 'room.created'],
  [{ start: '10:00', end: '09:00' }],
];

/** A hostile value of any type. */
export function hostileValue(random: Random): unknown {
  const kind = random.next();
  if (kind < 0.55) return random.pick(TEXTS);
  if (kind < 0.75) return random.pick(NUMBERS);
  if (kind < 0.97) return random.pick(OTHERS);
  return nested(random.pick([10, 100, 2_000]), random.chance(0.5));
}

export function hostileText(random: Random): string {
  return random.pick(TEXTS);
}

function nested(depth: number, isArray: boolean): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level += 1) value = isArray ? [value] : { a: value };
  return value;
}
