import { inWorkspace, type Rows, wrongPages, wrongTokens } from '../row.ts';
import type { Scene } from '../scene.ts';
import { wrongEmails } from '../wrong-links.ts';

const one = (scene: Scene) => ({ ...inWorkspace(scene), invitationId: scene.invitation.id });

export const invitationRows: Rows = {
  'invitations.list': { who: 'admin', keys: false, input: inWorkspace, writes: false, wrong: wrongPages },
  'invitations.create': {
    who: 'admin',
    keys: false,
    input: (scene) => ({ ...inWorkspace(scene), email: 'walt@example.com', role: 'member' }),
    writes: true,
    wrong: [
      ...wrongEmails,
      { input: { role: undefined }, message: 'role is required', path: 'role' },
      { input: { role: 'owner' }, message: 'role must be one of admin, member', path: 'role' },
    ],
    conflict: {
      input: (scene) => ({ ...inWorkspace(scene), email: scene.member.email, role: 'member' }),
      message: 'A member of the workspace has this email address',
    },
  },
  'invitations.resend': {
    who: 'admin',
    keys: false,
    input: one,
    writes: true,
    children: { invitationId: 'Invitation not found' },
  },
  'invitations.revoke': {
    who: 'admin',
    keys: false,
    input: one,
    writes: true,
    children: { invitationId: 'Invitation not found' },
  },
  'invitations.lookUp': {
    who: 'anyone',
    keys: true,
    input: ({ invitation }) => ({ token: invitation.token }),
    writes: false,
    random: ['logo_url'],
    wrong: wrongTokens,
    cases: {
      'an unknown token': {
        call: () => ({ input: { token: `lnm_${'A'.repeat(43)}` } }),
        status: 404,
        message: 'Invitation not found',
      },
    },
  },
  'invitations.accept': {
    who: 'user',
    keys: false,
    input: ({ invitation }) => ({ token: invitation.token }),
    writes: true,
    caller: (world) => world.addUser('Solo'),
    wrong: wrongTokens,
  },
};
