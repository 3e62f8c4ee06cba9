import { codeOf, fromBase32, stepAt } from '../../../src/auth/totp.ts';
import type { TestApp } from '../../support/test-app.ts';
import type { Rows } from '../row.ts';
import type { User, World } from '../scene.ts';

/** The code of a user whose authenticator app is set up. */
const codes = new WeakMap<User, string>();

async function setUp({ http, clock }: TestApp, user: User): Promise<void> {
  const { body } = await http.post('/api/auth/second-factor', user.token);
  codes.set(user, codeOf(fromBase32(body.secret), stepAt(clock.now())));
}

async function enable(app: TestApp, user: User): Promise<void> {
  await setUp(app, user);
  await app.http.post('/api/auth/second-factor/confirm', user.token, { code: codes.get(user) });
}

async function addUserWithApp(world: World): Promise<User> {
  const user = await world.addUser('Solo');
  await setUp(world.app, user);
  return user;
}

async function addUserWithSecondFactor(world: World): Promise<User> {
  const user = await world.addUser('Solo');
  await enable(world.app, user);
  return user;
}

export const secondFactorRows: Rows = {
  'secondFactor.read': { who: 'user', keys: false, input: () => ({}), writes: false },
  'secondFactor.setUp': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    random: ['secret', 'otpauth_uri'],
    caller: (world) => world.addUser('Solo'),
  },
  'secondFactor.confirm': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ code: codes.get(by) ?? '000000' }),
    writes: true,
    random: ['recovery_codes'],
    caller: addUserWithApp,
    prepare: setUp,
    wrong: [
      { input: { code: undefined }, message: 'code is required', path: 'code' },
      { input: { code: 492_039 }, message: 'code must be a string', path: 'code' },
      { input: { code: '0'.repeat(51) }, message: 'code must have at most 50 characters', path: 'code' },
    ],
    conflict: {
      input: () => ({ code: '000000' }),
      message: 'Set up the second factor first: POST /api/auth/second-factor',
    },
  },
  'secondFactor.createRecoveryCodes': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    random: ['recovery_codes'],
    caller: addUserWithSecondFactor,
    prepare: enable,
    conflict: { input: () => ({}), message: 'The second factor is not enabled' },
  },
  'secondFactor.remove': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    caller: addUserWithSecondFactor,
    prepare: enable,
  },
};
