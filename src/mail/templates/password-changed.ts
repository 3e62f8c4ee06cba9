import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

const ways: Record<MailData['password-changed']['by'], string> = {
  owner: 'The password of your account at Lynxroom was changed, and all other sessions have ended.',
  'reset-link':
    'The password of your account at Lynxroom was set with a link that was sent to this address. All sessions have ' +
    'ended.',
};

export function passwordChanged({ by }: MailData['password-changed']): MailContent {
  return {
    subject: 'Your password has changed',
    paragraphs: [ways[by]],
    ending: 'If this was not you, ask for a new password with "Forgot password", and then check your sessions.',
  };
}
