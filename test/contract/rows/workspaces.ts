import type { TestApp } from '../../support/test-app.ts';
import { inWorkspace, type Rows, wrongNames, wrongPages, wrongTokens } from '../row.ts';
import type { User } from '../scene.ts';

export const workspaceRows: Rows = {
  'workspaces.list': { who: 'user', keys: true, input: () => ({}), writes: false, wrong: wrongPages },
  'workspaces.create': {
    who: 'user',
    keys: false,
    input: () => ({ name: 'Crème brûlée' }),
    writes: true,
    wrong: wrongNames,
  },
  'workspaces.read': { who: 'member', keys: true, input: inWorkspace, writes: false, wrong: wrongPages },
  'workspaces.usage': { who: 'member', keys: true, input: inWorkspace, writes: false },
  'workspaces.search': {
    who: 'member',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), search: 'a', limit: 5 }),
    writes: false,
    wrong: [
      { input: { search: '' }, message: 'search is required', path: 'search' },
      { input: { search: ' ' }, message: 'search is required', path: 'search' },
      { input: { limit: 21 }, message: 'limit must be an integer between 1 and 20', path: 'limit' },
    ],
  },
  'workspaces.rename': {
    who: 'owner',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), name: 'Renamed' }),
    writes: true,
    wrong: [
      ...wrongNames,
      ...[
        'app.example.com',
        'http://app.example.com',
        'https://app.example.com/path',
        'https://*.example.com',
        'https://a.example;script-src',
        'https://user@app.example.com',
        "'self'",
        'null',
        '',
      ].map((origin) => ({
        input: { embed_origins: [origin] },
        message: 'embed_origins must be origins such as https://app.example.com, without a path and without *',
        path: 'embed_origins.0',
      })),
      {
        input: { embed_origins: Array.from({ length: 21 }, (_, index) => `https://${index}.example`) },
        message: 'embed_origins must have at most 20 entries',
        path: 'embed_origins',
      },
      { input: { embed_origins: '*' }, message: 'embed_origins must be an array', path: 'embed_origins' },
    ],
  },
  'workspaces.meetingSettings': { who: 'member', keys: true, input: inWorkspace, writes: false },
  'workspaces.setMeetingSettings': {
    who: 'admin',
    keys: true,
    input: (scene) => ({ ...inWorkspace(scene), media: 'mesh' }),
    writes: true,
    wrong: [
      ...[undefined, 'sfu', 5].map((media) => ({
        input: { media },
        message: 'media must be mesh or null',
        path: 'media',
      })),
    ],
  },
  'workspaces.signInRequirement': { who: 'member', keys: false, input: inWorkspace, writes: false },
  'workspaces.setSignInRequirement': {
    who: 'owner',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), required: 'second_factor' }),
    prepare: async ({ services: { db, clock } }, { id: userId }) => {
      await db.session.updateMany({ where: { userId }, data: { secondFactorAt: clock.now() } });
    },
    writes: true,
    wrong: [
      ...[undefined, 'sms', 5].map((required) => ({
        input: { required },
        message: 'required must be second_factor, provider or null',
        path: 'required',
      })),
      {
        input: { required: 'provider' },
        message: 'provider is required: the ID of an OpenID provider',
        path: 'provider',
      },
      {
        input: { required: 'provider', provider: 'unknown' },
        message: 'provider must be one of GET /api/auth/openid/providers',
        path: 'provider',
      },
    ],
  },
  'workspaces.joinDomain': { who: 'admin', keys: false, input: inWorkspace, writes: false },
  'workspaces.setJoinDomain': {
    who: 'owner',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), domain: null }),
    writes: true,
    wrong: [
      ...[undefined, 5].map((domain) => ({
        input: { domain },
        message: 'domain must be a domain such as example.com, or null',
        path: 'domain',
      })),
      {
        input: { domain: 'example.com' },
        message: 'domain needs a confirmed address of yours: confirm it first',
        path: 'domain',
      },
    ],
  },
  'workspaces.delete': { who: 'owner', keys: false, input: inWorkspace, writes: true },
  'workspaces.invite': { who: 'admin', keys: false, input: inWorkspace, writes: false },
  'workspaces.revokeInvite': { who: 'admin', keys: false, input: inWorkspace, writes: true },
  'workspaces.lookUpInvite': {
    who: 'anyone',
    keys: true,
    input: ({ inviteToken }) => ({ token: inviteToken }),
    writes: false,
    random: ['logo_url'],
    wrong: wrongTokens,
    cases: {
      'an unknown token': {
        call: () => ({ input: { token: 'A'.repeat(32) } }),
        status: 404,
        message: 'Invite not found',
      },
    },
  },
  'workspaces.join': {
    who: 'user',
    keys: false,
    input: ({ inviteToken }) => ({ token: inviteToken }),
    writes: true,
    caller: (world) => world.addUser('Solo'),
  },
  'workspaces.listJoinable': { who: 'user', keys: false, input: () => ({}), writes: false },
  'workspaces.joinByDomain': {
    who: 'user',
    keys: false,
    input: ({ joinableId }) => ({ id: joinableId }),
    async caller(world) {
      const user = await world.addUser('Colleague');
      await confirmAddress(world.app, user);
      return user;
    },
    prepare: confirmAddress,
    writes: true,
    cases: {
      'an address that is not confirmed': {
        call: ({ owner }) => ({ token: owner.token }),
        status: 404,
        message: 'Workspace not found',
      },
    },
  },
};

async function confirmAddress({ services: { db, clock } }: TestApp, { id }: User): Promise<void> {
  await db.user.update({ where: { id }, data: { emailVerifiedAt: clock.now() } });
}
