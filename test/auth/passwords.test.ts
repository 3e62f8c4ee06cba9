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

test('a password that is not normalized is compared twice, with and without an account', async () => {
  const compared: (string | Uint8Array)[] = [];
  const passwords = createPasswords(1, {
    hash,
    async verify(_passwordHash, password) {
      compared.push(password);
      return false;
    },
  });
  const [typed, normalized] = ['fu\u0308r\u00a0immer', 'f\u00fcr immer'];
  for (const passwordHash of [null, 'a hash']) {
    expect(await passwords.isCorrect(typed, passwordHash, requester)).toBe(false);
    expect(compared.splice(0)).toEqual([normalized, typed]);
    expect(await passwords.isCorrect(normalized, passwordHash, requester)).toBe(false);
    expect(compared.splice(0)).toEqual([normalized]);
  }
});
