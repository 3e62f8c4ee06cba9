import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

export function resetPassword({ link }: MailData['reset-password']): MailContent {
  return {
    subject: 'Set a new password',
    paragraphs: ['Somebody asked for a new password for the Lynxroom account with this address.'],
    action: { label: 'Set a new password', link },
    ending:
      'The link works only once and expires after an hour. ' +
      'If you did not ask for it, ignore this message: nothing changes.',
  };
}
