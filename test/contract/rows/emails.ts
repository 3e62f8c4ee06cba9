import { PASSWORD } from '../../support/world.ts';
import type { Rows } from '../row.ts';
import { wrongEmails, wrongLinkTokens } from '../wrong-links.ts';

export const emailRows: Rows = {
  'emails.verify': {
    who: 'anyone',
    acceptsCredential: true,
    keys: false,
    input: ({ links }) => ({ token: links.verifyEmail, password: PASSWORD }),
    writes: true,
    wrong: [
      ...wrongLinkTokens,
      {
        input: { password: undefined },
        message: 'password is required: enter the password of the account, or sign in to it first',
        path: 'password',
      },
      { input: { password: 'a guess' }, message: 'password is wrong', path: 'password', isLogged: true },
    ],
    conflict: {
      input: ({ links }) => ({ token: links.takenEmail }),
      message: 'An account with this email address already exists',
    },
  },
  'emails.resend': {
    who: 'user',
    keys: false,
    input: () => ({}),
    writes: true,
    caller: (world) => world.addUser('Solo'),
  },
  'emails.change': {
    who: 'user',
    keys: false,
    input: ({ number }) => ({ email: `changed${number}@example.com` }),
    writes: true,
    caller: (world) => world.addUser('Solo'),
    wrong: wrongEmails,
  },
};
