import { type Refusal, type Rows, wrongPages } from '../row.ts';
import { browserCookie } from '../scene-sign-in.ts';

const wrongStarts: readonly Refusal[] = [
  { input: { provider: undefined }, message: 'provider is required', path: 'provider' },
  { input: { provider: 5 }, message: 'provider must be a string', path: 'provider' },
  {
    input: { return_to: 'https://elsewhere.example.com' },
    message: 'return_to must be a path that begins with a single /',
    path: 'return_to',
  },
];

export const openidRows: Rows = {
  'openid.providers': { who: 'anyone', keys: true, input: () => ({}), writes: false },
  'openid.start': {
    who: 'anyone',
    keys: true,
    input: () => ({ provider: 'test', return_to: '/rooms' }),
    writes: true,
    wrong: wrongStarts,
  },
  'openid.complete': {
    who: 'anyone',
    keys: true,
    input: ({ member }) => ({ state: member.signIn.state, code: 'the code of the provider' }),
    headers: browserCookie,
    writes: true,
    random: ['return_to'],
    wrong: [
      { input: { state: undefined }, message: 'state is required', path: 'state' },
      { input: { code: 5 }, message: 'code must be a string', path: 'code' },
      { input: { iss: 'x'.repeat(4_001) }, message: 'iss must have at most 4000 characters', path: 'iss' },
    ],
    cases: {
      'an unknown state': { call: () => ({ input: { state: 'unknown' } }), status: 401 },
      'the cookie of another browser': {
        call: () => ({ headers: { cookie: `sign_in=${'c'.repeat(32)}` } }),
        status: 401,
      },
    },
  },
  'openid.link': {
    who: 'user',
    keys: false,
    input: () => ({ provider: 'test' }),
    writes: true,
    wrong: wrongStarts,
  },
  'openid.reauthenticate': {
    who: 'user',
    keys: false,
    input: () => ({ provider: 'test' }),
    writes: true,
    wrong: wrongStarts,
  },
  'openid.identities': { who: 'user', keys: false, input: () => ({}), writes: false, wrong: wrongPages },
  'openid.unlink': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ identityId: by.signIn.identityId }),
    writes: true,
    children: { identityId: 'Identity not found' },
  },
};
