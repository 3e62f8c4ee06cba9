/** Passwords: argon2id with the parameters of the OWASP Password Storage Cheat Sheet (19 MiB, t = 2, p = 1). */
import { hash, verify } from '@node-rs/argon2';

// argon2id is the library's default; its enum of algorithms is none that erasable TypeScript can name.
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export const hashPassword = (password: string): Promise<string> => hash(password, PARAMETERS);

// What an unknown address is checked against, so that it takes as long as a wrong password.
let decoy: Promise<string> | undefined;

/** Whether `password` belongs to `passwordHash`; null takes as long as a wrong one and is never right. */
export const isPassword = async (password: string, passwordHash: string | null): Promise<boolean> => {
  if (passwordHash !== null) return verify(passwordHash, password);
  decoy ??= hashPassword('nobody has this password');
  await verify(await decoy, password);
  return false;
};
