import { PASSWORD } from '../../support/world.ts';
import type { Rows } from '../row.ts';
import { wrongEmails, wrongLinkTokens } from '../wrong-links.ts';

export const passwordRows: Rows = {
  'passwords.forgot': {
    who: 'anyone',
    keys: true,
    input: ({ links }) => ({ email: links.email }),
    writes: true,
    wrong: wrongEmails,
  },
  'passwords.reset': {
    who: 'anyone',
    keys: true,
    input: ({ links }) => ({ token: links.resetPassword, password: `${PASSWORD} 2` }),
    writes: true,
    wrong: [
      ...wrongLinkTokens,
      {
        input: { password: 'password123' },
        message: 'password is too common: choose one that is hard to guess',
        path: 'password',
      },
      { input: { password: 'short' }, message: 'password must have 8 to 200 characters', path: 'password' },
    ],
  },
};
