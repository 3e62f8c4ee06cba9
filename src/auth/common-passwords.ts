/** Passwords that guesses begin with. No account may have one. */
import { readFileSync } from 'node:fs';

/** One password a line, with a line break before and after each. Read when the first password is checked: 0.4 MB. */
let list: string | undefined;

/** Whether a password is among the most common ones, in whatever case. */
export function isCommonPassword(password: string): boolean {
  list ??= readFileSync(new URL('../../assets/common-passwords.txt', import.meta.url), 'latin1');
  return !password.includes('\n') && list.includes(`\n${password.toLowerCase()}\n`);
}
