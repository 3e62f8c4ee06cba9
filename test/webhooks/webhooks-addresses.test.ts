/** Which addresses the URL of a webhook may point to: private ones are refused in every notation. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResolveHost } from '../../src/egress/address-guard.ts';
import { transports } from '../contract/transports.ts';
import { dumpTables } from '../support/dump.ts';
import { resolveTestHost, startTestApp, type TestApp } from '../support/test-app.ts';
import { addTeam, type Team } from '../support/world.ts';

const PRIVATE_NAMES: Record<string, string[]> = {
  'intranet.example.com': ['10.1.2.3'],
  'metadata.example.com': ['169.254.169.254'],
  'half.example.com': ['93.184.216.34', '192.168.0.1'],
  'v6.example.com': ['fd00::1'],
  'mapped.example.com': ['::ffff:10.0.0.1'],
};

/** Every name that was resolved. */
const resolved: string[] = [];
const resolveHost: ResolveHost = async (hostname) => {
  resolved.push(hostname);
  const addresses = PRIVATE_NAMES[hostname];
  if (addresses === undefined) return resolveTestHost(hostname);
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

let app: TestApp;
let team: Team;
let webhookId: number;
beforeAll(async () => {
  app = await startTestApp({ resolveHost });
  team = await addTeam(app);
  const input = { id: team.id, name: 'Chat', url: 'https://example.com/', events: ['room.created' as const] };
  webhookId = (await team.owner.client.webhooks.create.mutate(input)).webhook.id;
});
afterAll(() => app.close());

const PRIVATE = 'url must point to a public address or to this machine';
const PORT = 'url must use port 80, 443 or one from 1024 to 65535';

const refused: [url: string, message: string][] = [
  ...[
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://0.0.0.0/',
    'http://255.255.255.255/',
    'http://224.0.0.1/',
    // 10.0.0.1 as one number, in hexadecimal, in octal, with omitted parts, in full-width digits.
    'http://167772161/',
    'http://0x0a000001/',
    'http://012.0.0.1/',
    'http://10.1/',
    'http://\uff11\uff10.0.0.1/',
    'http://[::ffff:10.0.0.1]/',
    'http://[::ffff:a00:1]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[64:ff9b::a00:1]/',
    'http://[2002:a00:1::]/',
    ...Object.keys(PRIVATE_NAMES).map((name) => `https://${name}/hook`),
    'https://INTRANET.example.com./hook',
  ].map((url): [string, string] => [url, PRIVATE]),
  ...['https://example.com:22/', 'https://example.com:25/', 'http://8.8.8.8:25/', 'http://10.0.0.1:1023/'].map(
    (url): [string, string] => [url, PORT],
  ),
];

describe.each(transports)('through %s', (_, transport) => {
  test.each(refused)(
    '%s is refused in a new webhook and in an update, and nothing is written',
    async (url, message) => {
      const before = await dumpTables(app);
      const { token } = team.admin;
      const input = { id: team.id, name: 'New', url, events: ['room.created'] };
      for (const call of [
        { name: 'webhooks.create', token, input },
        { name: 'webhooks.update', token, input: { ...input, webhookId, toggle: true } },
      ]) {
        const response = await transport(app, call);
        expect(response).toMatchObject({ status: 400, body: { message, issues: [{ path: 'url', message }] } });
      }
      expect(await dumpTables(app)).toEqual(before);
    },
  );

  test.each([
    'http://127.0.0.1:3000/hook',
    'http://localhost:3000/hook',
    'http://[::1]:3000/hook',
    // 127.0.0.1 as one number.
    'http://2130706433:3000/',
    'https://example.org:8443/hook',
    'http://93.184.216.34/',
    'https://[2606:2800:220:1::1]/',
    // It has no address now, and may have one later.
    'https://not-yet.example.net/hook',
  ])('%s is accepted', async (url) => {
    const input = { id: team.id, name: 'New', url, events: ['room.created'] };
    const { token } = team.admin;
    expect(await transport(app, { name: 'webhooks.create', token, input })).toMatchObject({
      status: 200,
      body: { webhook: { url } },
    });
    expect(
      await transport(app, { name: 'webhooks.update', token, input: { id: team.id, webhookId, url } }),
    ).toMatchObject({
      status: 200,
      body: { webhook: { url } },
    });
  });

  test('no name is resolved for a caller without permission, and none for an update without a url', async () => {
    resolved.length = 0;
    const input = { id: team.id, name: 'New', url: 'https://intranet.example.com/', events: ['room.created'] };
    for (const { token } of [team.member, team.outsider])
      for (const name of ['webhooks.create', 'webhooks.update'])
        expect(await transport(app, { name, token, input: { ...input, webhookId } })).toMatchObject({ status: 403 });
    const change = { id: team.id, webhookId, name: 'Other' };
    const { token } = team.admin;
    expect(await transport(app, { name: 'webhooks.update', token, input: change })).toMatchObject({ status: 200 });
    expect(resolved).toEqual([]);
  });
});
