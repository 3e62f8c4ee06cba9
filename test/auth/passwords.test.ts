/** What hashing a password costs. The application of the other tests hashes with the least cost. */
import { hash } from '@node-rs/argon2';
import { expect, test } from 'vitest';
import { createPasswords } from '../../src/auth/passwords.ts';

/** The parameters of the OWASP Password Storage Cheat Sheet: 19 MiB, two iterations, one thread. */
const PARAMETERS = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/;

const requester = { network: '127.0.0.1', signal: null };

test('a password is hashed with the parameters that OWASP recommends', async () => {
  expect(await createPasswords(1).hash('a password', requester)).toMatch(PARAMETERS);
});

test('without an account, a password is compared with a hash of the same parameters', async () => {
  const compared: string[] = [];
  const passwords = createPasswords(1, {
    hash,
    async verify(passwordHash) {
      compared.push(String(passwordHash));
      return false;
    },
  });
  expect(await passwords.isCorrect('a password', null, requester)).toBe(false);
  expect(compared).toEqual([expect.stringMatching(PARAMETERS)]);
});
