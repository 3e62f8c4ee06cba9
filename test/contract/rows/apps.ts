import { type Refusal, type Rows, wrongPages } from '../row.ts';
import type { User } from '../scene.ts';
import type { Input } from '../transports.ts';

function request({ signIn }: User): Input {
  return {
    response_type: 'code',
    client_id: signIn.clientId,
    redirect_uri: 'https://agent.example.com/callback',
    code_challenge: 'c'.repeat(43),
    code_challenge_method: 'S256',
    scope: 'read write',
    state: 'of the app',
  };
}

const wrongRequests: readonly Refusal[] = [
  {
    input: { client_id: 'unknown' },
    message: 'The app is not registered, or its registration has ended',
    path: 'client_id',
  },
  {
    input: { redirect_uri: 'https://other.example.com/' },
    message: 'The app has not registered this redirect_uri',
    path: 'redirect_uri',
  },
  {
    input: { code_challenge: 'short' },
    message: 'code_challenge must be a SHA-256 in base64url',
    path: 'code_challenge',
  },
  {
    input: { code_challenge_method: 'plain' },
    message: 'code_challenge_method must be S256',
    path: 'code_challenge_method',
  },
  {
    input: { code_challenge_method: undefined },
    message: 'code_challenge_method must be S256',
    path: 'code_challenge_method',
  },
  { input: { response_type: 'token' }, message: 'response_type must be code', path: 'response_type' },
  { input: { scope: 'everything' }, message: 'There is no scope everything', path: 'scope' },
];

export const appRows: Rows = {
  'apps.list': { who: 'user', keys: false, input: () => ({}), writes: false, wrong: wrongPages },
  'apps.describe': {
    who: 'user',
    keys: false,
    input: (_scene, by) => request(by),
    writes: false,
    random: ['decline_url'],
    wrong: wrongRequests,
  },
  'apps.connect': {
    who: 'member',
    keys: false,
    input: ({ workspaceId }, by) => ({ id: workspaceId, ...request(by), scopes: ['read'] }),
    writes: true,
    random: ['url'],
    wrong: [
      ...wrongRequests,
      { input: { scopes: [] }, message: 'scopes must have at least one entry', path: 'scopes' },
      {
        input: { scopes: ['admin'] },
        message: 'scopes must be among those that the app asks for',
        path: 'scopes',
      },
    ],
  },
  'apps.disconnect': {
    who: 'user',
    keys: false,
    input: (_scene, by) => ({ appId: by.signIn.appId }),
    writes: true,
    children: { appId: 'App not found' },
  },
};
