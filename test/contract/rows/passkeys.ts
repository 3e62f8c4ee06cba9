import { type Refusal, type Rows, wrongNames, wrongPages } from '../row.ts';
import { assertionOf, registrationOf } from '../scene-sign-in.ts';

const wrongResponses: readonly Refusal[] = [
  { input: { response: undefined }, message: 'response is required', path: 'response' },
  { input: { response: 'text' }, message: 'response must be an object', path: 'response' },
];

export const passkeyRows: Rows = {
  'passkeys.startSignIn': { who: 'anyone', keys: true, input: () => ({}), writes: true, random: ['challenge'] },
  'passkeys.signIn': {
    who: 'anyone',
    keys: true,
    input: ({ member }) => ({ response: assertionOf(member, 'sign_in') }),
    writes: true,
    wrong: wrongResponses,
  },
  'passkeys.startRegistration': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    random: ['challenge', 'id'],
  },
  'passkeys.register': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ name: 'Phone', response: registrationOf(by, by.signIn.newAuthenticator) }),
    writes: true,
    wrong: [
      ...wrongResponses,
      { input: { name: '' }, message: 'Name is required', path: 'name' },
      { input: { name: 5 }, message: 'name must be a string', path: 'name' },
    ],
  },
  'passkeys.list': { who: 'user', keys: false, input: () => ({}), writes: false, wrong: wrongPages },
  'passkeys.rename': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ passkeyId: by.signIn.passkeyId, name: 'Tablet' }),
    writes: true,
    children: { passkeyId: 'Passkey not found' },
    wrong: wrongNames,
  },
  'passkeys.remove': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ passkeyId: by.signIn.passkeyId }),
    writes: true,
    children: { passkeyId: 'Passkey not found' },
  },
  'passkeys.startReauthentication': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    random: ['challenge'],
  },
  'passkeys.reauthenticate': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ response: assertionOf(by, 'reauthenticate') }),
    writes: true,
    wrong: wrongResponses,
  },
};
