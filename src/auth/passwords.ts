/** Password hashing: argon2id with the parameters of the OWASP Password Storage Cheat Sheet (19 MiB, t = 2, p = 1). */
import { hash, verify } from '@node-rs/argon2';
import { createSemaphore } from '../core/semaphore.ts';

// The library's default algorithm is argon2id. It cannot be named here: the library's enum is a `const enum`.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/**
 * Hashing occupies one of libuv's four threads for 10 ms. At most two are used, since file access needs threads too.
 */
const hashing = createSemaphore(2);

// A hash with the same parameters. Sign-in with an unknown email address is checked against it, so that it takes as
// long as sign-in with a wrong password.
const DECOY = '$argon2id$v=19$m=19456,t=2,p=1$i2h0O/0ypQJuE0qwto5Vvw$kb0h1oYIOrzNH3ADRVXCKLAgXfpnFsu3TfcJ3bEGO2o';

export function hashPassword(password: string): Promise<string> {
  return hashing.run(() => hash(password, PARAMETERS));
}

/** Whether the password is correct. Without a hash it returns false after the same time as for a wrong password. */
export async function isPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const isCorrect = await hashing.run(() => verify(passwordHash ?? DECOY, password));
  return isCorrect && passwordHash !== null;
}
