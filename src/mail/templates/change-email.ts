import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

export function changeEmail({ link }: MailData['change-email']): MailContent {
  return {
    subject: 'Confirm your new email address',
    paragraphs: [
      'Somebody wants to use this address for their Lynxroom account. ' +
        'The address of the account changes when you confirm.',
    ],
    action: { label: 'Confirm address', link },
    ending: 'The link works only once and expires after a day. If you did not ask for the change, ignore this message.',
  };
}
