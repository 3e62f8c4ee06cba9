/** The settings of meetings. */
import { expect, test } from 'vitest';
import { readConfig } from '../../src/runtime/config.ts';
import { hasTurn } from '../../src/runtime/meeting-settings.ts';
import { describeInsecureOrigin } from '../../src/runtime/secure-context.ts';

const ICE =
  'ICE_SERVERS must be a comma-separated list of URLs such as stun:stun.example.com:3478, or a JSON array of objects ' +
  'with urls and, for TURN, username and credential';
const TURN =
  'TURN_URLS must be a comma-separated list of URLs that begin with turn: or turns:, such as turn:turn.example.com';
const SECRET = 'a secret that nobody sees';

const LIVEKIT = { LIVEKIT_API_KEY: 'APIkey', LIVEKIT_API_SECRET: SECRET };

const linesOf = (env: Record<string, string>): string => {
  try {
    readConfig(env);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
};

test('STUN servers can be a list, and all servers can be JSON', () => {
  const list = readConfig({ ICE_SERVERS: ' stun:stun.example.com , stuns:[2001:db8::1]:5349 ' });
  expect(list.ICE_SERVERS).toEqual([{ urls: ['stun:stun.example.com'] }, { urls: ['stuns:[2001:db8::1]:5349'] }]);
  const turn = { urls: 'turn:turn.example.com:3478?transport=udp', username: 'u', credential: 'c' };
  const json = readConfig({ ICE_SERVERS: JSON.stringify([{ urls: ['stun:a', 'stun:b'] }, turn]) });
  expect(json.ICE_SERVERS).toEqual([{ urls: ['stun:a', 'stun:b'] }, { ...turn, urls: [turn.urls] }]);
  expect([hasTurn(list), hasTurn(json), hasTurn(readConfig({}))]).toEqual([false, true, false]);
  expect(readConfig({})).toMatchObject({ MESH_MAX_PARTICIPANTS: 8, MESH_RELAY_ONLY: false });
});

test.each([
  'stun.example.com',
  'https://stun.example.com',
  'stun:stun.example.com?transport=udp',
  'turn:turn.example.com',
  ',',
  '[',
  '{}',
  '[{"urls": "turn:turn.example.com"}]',
  '[{"urls": []}]',
  '[{"urls": "stun:a", "password": "p"}]',
  `[{"urls": "stun:a b", "credential": "${SECRET}"}]`,
  Array.from({ length: 21 }, () => 'stun:a').join(),
])('ICE_SERVERS=%s is refused, without repeating it', (value) => {
  expect(linesOf({ ICE_SERVERS: value })).toBe(`Invalid configuration:\n  ${ICE}`);
});

test.each([
  [{ TURN_URLS: 'stun:a', TURN_SECRET: SECRET }, TURN],
  [{ TURN_URLS: 'turn:a?transport=sctp', TURN_SECRET: SECRET }, TURN],
  [{ TURN_URLS: 'turn:a', TURN_SECRET: 'too short' }, 'TURN_SECRET must have at least 16 characters'],
  [{ TURN_URLS: 'turn:a' }, 'TURN_SECRET must be set together with TURN_URLS'],
  [{ TURN_SECRET: SECRET }, 'TURN_SECRET must be set together with TURN_URLS'],
  [{ MESH_MAX_PARTICIPANTS: '1' }, 'MESH_MAX_PARTICIPANTS must be a whole number from 2 to 100'],
  [{ MESH_RELAY_ONLY: 'yes' }, 'MESH_RELAY_ONLY must be 0 or 1'],
  [{ MESH_RELAY_ONLY: '1' }, 'MESH_RELAY_ONLY can be 1 only with TURN_URLS, or with a TURN server in ICE_SERVERS'],
  [
    { LIVEKIT_URL: 'wss://livekit.example.com', LIVEKIT_API_KEY: 'APIkey' },
    'LIVEKIT_URL must be set together with LIVEKIT_API_KEY and LIVEKIT_API_SECRET',
  ],
  [{ LIVEKIT_API_SECRET: SECRET }, 'LIVEKIT_URL must be set together with LIVEKIT_API_KEY and LIVEKIT_API_SECRET'],
  [{ ...LIVEKIT, LIVEKIT_URL: 'ws://10.0.0.1' }, 'LIVEKIT_URL must begin with wss:// or https://'],
  [
    { ...LIVEKIT, LIVEKIT_URL: 'wss://livekit.example.com/path' },
    'LIVEKIT_URL must be a URL such as wss://livekit.example.com, without a path',
  ],
])('%j is refused', (env, message) => {
  const lines = linesOf(env);
  expect(lines).toBe(`Invalid configuration:\n  ${message}`);
  expect(lines).not.toContain(SECRET);
});

test('a public URL without HTTPS is reported, except on this machine', () => {
  const warned = describeInsecureOrigin({ PUBLIC_URL: 'http://meet.example.com' });
  expect(warned).toContain('Browsers give no camera and no microphone to pages at http://meet.example.com');
  expect(warned).toContain('docs/deployment.md');
  expect(describeInsecureOrigin({ PUBLIC_URL: 'http://192.168.0.7:3000' })).not.toBeNull();
  for (const PUBLIC_URL of [undefined, 'https://meet.example.com', 'http://localhost:3000', 'http://[::1]:3000'])
    expect(describeInsecureOrigin({ PUBLIC_URL })).toBeNull();
});

test('the URL of a LiveKit server becomes an origin, which may be a private address', () => {
  const urls = ['wss://LiveKit.example.com:443/', 'https://10.0.0.1:7880', 'ws://127.0.0.1:7880'];
  expect(urls.map((url) => readConfig({ ...LIVEKIT, LIVEKIT_URL: url }).LIVEKIT_URL)).toEqual([
    'https://livekit.example.com',
    'https://10.0.0.1:7880',
    'http://127.0.0.1:7880',
  ]);
});
