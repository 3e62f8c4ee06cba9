/** Passwords: argon2id with the parameters of the OWASP Password Storage Cheat Sheet (19 MiB, t = 2, p = 1). */
import { hash, verify } from '@node-rs/argon2';
import { createSemaphore } from '../core/semaphore.ts';

// argon2id is the library's default; its enum of algorithms is none that erasable TypeScript can name.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** Hashing occupies a thread for 10 ms, one of the few that also read and write files. */
const hashing = createSemaphore(2);

// What an unknown address is checked against, so that it takes as long as a wrong password: nobody's, hashed as above.
const DECOY = '$argon2id$v=19$m=19456,t=2,p=1$i2h0O/0ypQJuE0qwto5Vvw$kb0h1oYIOrzNH3ADRVXCKLAgXfpnFsu3TfcJ3bEGO2o';

export function hashPassword(password: string): Promise<string> {
  return hashing.run(() => hash(password, PARAMETERS));
}

/** Whether `password` belongs to `passwordHash`; null takes as long as a wrong one and is never right. */
export async function isPassword(password: string, passwordHash: string | null): Promise<boolean> {
  const isRight = await hashing.run(() => verify(passwordHash ?? DECOY, password));
  return isRight && passwordHash !== null;
}
