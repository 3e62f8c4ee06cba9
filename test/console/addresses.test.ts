/** The addresses that somebody pastes to invite people. */
import { expect, test } from 'vitest';
import { readAddresses } from '../../web/src/routes/w/$workspaceId/-members/addresses.ts';

test.each<[string, string, string[]]>([
  ['names with addresses', 'Ada <ada@example.com>, "Bo, B." <bo@example.com>', ['ada@example.com', 'bo@example.com']],
  [
    'lines, spaces and semicolons',
    'ada@example.com\n bo@example.com;c@example.com',
    ['ada@example.com', 'bo@example.com', 'c@example.com'],
  ],
  ['an address twice, in other letters', 'ada@example.com ADA@example.com', ['ada@example.com']],
  ['one that is part of another', 'anna@example.com hanna@example.com', ['anna@example.com', 'hanna@example.com']],
  [
    'a link and the end of a sentence',
    'mailto:ada@example.com. Or bo@example.com.',
    ['ada@example.com', 'bo@example.com'],
  ],
  ['no address', 'nobody, @, a@', []],
  ['CSV', 'name,email\r\n"Ada",ada@example.com\r\n', ['ada@example.com']],
])('%s', (_, text, addresses) => {
  expect(readAddresses(text)).toEqual(addresses);
});

test('a large text without addresses costs no more than its length', () => {
  expect(readAddresses('a'.repeat(5_000_000))).toEqual([]);
});
