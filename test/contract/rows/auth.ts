import { PASSWORD } from '../../support/world.ts';
import { type Rows, wrongNames, wrongPages } from '../row.ts';

const TOO_COMMON = 'password is too common: choose one that is hard to guess';

export const authRows: Rows = {
  'auth.register': {
    who: 'anyone',
    keys: true,
    input: ({ number }) => ({ name: 'New', email: `new${number}@example.com`, password: PASSWORD }),
    writes: true,
    wrong: [
      ...wrongNames,
      { input: { email: 'nobody' }, message: 'email must be a valid email address', path: 'email' },
      { input: { password: 'short' }, message: 'password must have 8 to 200 characters', path: 'password' },
      { input: { password: undefined }, message: 'password is required', path: 'password' },
      { input: { password: 'Password1' }, message: TOO_COMMON, path: 'password' },
    ],
    conflict: {
      input: ({ owner }) => ({ name: 'Twin', email: owner.email, password: PASSWORD }),
      message: 'An account with this email address already exists',
    },
  },
  'auth.login': {
    who: 'anyone',
    keys: true,
    input: ({ member }) => ({ email: member.email, password: PASSWORD }),
    writes: true,
    wrong: [
      { input: { email: undefined }, message: 'email is required', path: 'email' },
      { input: { email: 5 }, message: 'email must be a string', path: 'email' },
      { input: { password: null }, message: 'password must be a string', path: 'password' },
    ],
  },
  'auth.logout': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    caller: (world) => world.addUser('Solo'),
  },
  'auth.me': { who: 'user', keys: false, input: () => ({}), writes: false },
  'auth.log': { who: 'user', keys: false, input: () => ({}), writes: false, wrong: wrongPages },
  'auth.reauthenticate': {
    who: 'user',
    keys: false,
    input: () => ({ password: PASSWORD }),
    writes: true,
    caller: (world) => world.addUser('Solo'),
    wrong: [
      { input: { password: undefined }, message: 'password is required', path: 'password' },
      { input: { password: 'not the password' }, message: 'password is wrong', path: 'password', isLogged: true },
      { input: { password: 5 }, message: 'password must be a string', path: 'password' },
    ],
  },
  'auth.updateMe': {
    who: 'user',
    keys: false,
    input: () => ({ name: 'Renamed' }),
    writes: true,
    caller: (world) => world.addUser('Solo'),
    wrong: [
      ...wrongNames.filter(({ input }) => Object.values(input)[0] != null),
      {
        input: { password: 'another password' },
        message: 'current_password is required to set a new password',
        path: 'current_password',
      },
      {
        input: { password: 'another password', current_password: 'not the current one' },
        message: 'current_password is wrong',
        path: 'current_password',
        isLogged: true,
      },
      {
        input: { password: 'another password', current_password: 'x'.repeat(201) },
        message: 'current_password must have at most 200 characters',
        path: 'current_password',
      },
      { input: { end_api_keys: true }, message: 'end_api_keys requires a new password', path: 'end_api_keys' },
      {
        input: { password: 'another password', current_password: PASSWORD, end_api_keys: 1 },
        message: 'end_api_keys must be a boolean',
        path: 'end_api_keys',
      },
      {
        input: { password: '1234567', current_password: PASSWORD },
        message: 'password must have 8 to 200 characters',
        path: 'password',
      },
      { input: { password: 'iloveyou', current_password: PASSWORD }, message: TOO_COMMON, path: 'password' },
    ],
  },
  'auth.deleteMe': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    caller: (world) => world.addUser('Solo'),
    conflict: {
      input: () => ({}),
      message: 'First transfer or delete the workspaces you own that have other members',
    },
  },
};
