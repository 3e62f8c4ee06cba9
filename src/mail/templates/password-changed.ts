import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

type By = MailData['password-changed']['by'];

const ways: Record<By, string> = {
  owner: 'The password of your Lynxroom account was changed, and all other sessions have ended.',
  'reset-link':
    'The password of your Lynxroom account was set with a link that was sent to this address. All sessions have ' +
    'ended.',
  operator: 'An operator of Lynxroom set a new password for your account. All sessions have ended.',
};

const REMOVED = 'Passkeys, linked providers and the second factor were removed. You can add them again.';
const KEPT =
  'API keys, the calendar feed, invitations and what else was created with the account still work. Look through the ' +
  'list on the page "Security" of your account.';
const ENDED =
  'The calendar feed, API keys, passkeys, linked providers and invitations of the account no longer work. You can ' +
  'create new ones.';
const NOT_YOU = 'If this was not you, ask for a new password with "Forgot password", and then check your sessions.';
const NOT_ASKED = 'If you did not ask for this, contact the operator.';

export function passwordChanged(data: MailData['password-changed']): MailContent {
  const { by, removedMethods = false, keepsAccess } = data;
  const paragraphs = [ways[by]];
  if (removedMethods) paragraphs.push(REMOVED);
  if (keepsAccess !== undefined) paragraphs.push(keepsAccess ? KEPT : ENDED);
  return { subject: 'Your password has changed', paragraphs, ending: by === 'operator' ? NOT_ASKED : NOT_YOU };
}
