import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

export function verifyEmail({ link }: MailData['verify-email']): MailContent {
  return {
    subject: 'Confirm your email address',
    paragraphs: ['A Lynxroom account was created with this address. Please confirm that it is yours.'],
    action: { label: 'Confirm address', link },
    ending: 'The link works only once and expires after a day. If you did not create an account, ignore this message.',
  };
}
