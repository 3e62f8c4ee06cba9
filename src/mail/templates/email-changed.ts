import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

export function emailChanged({ newEmail }: MailData['email-changed']): MailContent {
  return {
    subject: 'The email address of your account has changed',
    paragraphs: ['Your Lynxroom account now has a different email address. This one is no longer used.'],
    facts: [['New address', newEmail]],
    ending: 'If this was not you, contact the operator of the service at once.',
  };
}
