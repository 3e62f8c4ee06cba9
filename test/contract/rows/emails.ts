import type { Rows } from '../row.ts';
import { wrongEmails, wrongLinkTokens } from '../wrong-links.ts';

export const emailRows: Rows = {
  'emails.verify': {
    who: 'anyone',
    keys: true,
    input: ({ links }) => ({ token: links.verifyEmail }),
    writes: true,
    wrong: wrongLinkTokens,
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
