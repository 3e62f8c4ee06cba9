/** The most common passwords, which attackers try first. They are rejected. */
import { readFileSync } from 'node:fs';

/**
 * One password a line, with a line break before and after each. The list (0.4 MB) is read when the first password is
 * checked.
 */
let list: string | undefined;

/** Whether a password is among the most common ones, ignoring case. */
export function isCommonPassword(password: string): boolean {
  list ??= readFileSync(new URL('../../assets/common-passwords.txt', import.meta.url), 'latin1');
  return !password.includes('\n') && list.includes(`\n${password.toLowerCase()}\n`);
}
