/** Common passwords are refused. That each operation does so is in its row of the contract tests. */
import { expect, test } from 'vitest';
import { isCommonPassword } from '../../src/auth/common-passwords.ts';

test.each(['password', 'PassWord', '12345678', 'qwertyuiop', 'iloveyou', 'zzzzzzzzzz'])('%j is common', (password) => {
  expect(isCommonPassword(password)).toBe(true);
});

test.each(['correct horse battery staple', 'iloveyou 12345678', 'password\niloveyou', '', 'passw'])(
  '%j is not',
  (password) => {
    expect(isCommonPassword(password)).toBe(false);
  },
);
