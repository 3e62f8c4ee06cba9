import type { MailData, SignInChange } from '../kinds.ts';
import { type MailContent, NOT_YOU, quoteStranger } from './content.ts';

const changes: Record<SignInChange, string> = {
  'second-factor-on': 'Signing in to your Lynxroom account now also needs a code from your authenticator app.',
  'second-factor-off': 'Signing in to your Lynxroom account no longer needs a code from an authenticator app.',
  'recovery-codes-created': 'New recovery codes were created for your Lynxroom account. The old ones no longer work.',
  'recovery-code-used': 'Somebody signed in to your Lynxroom account with a recovery code. This code no longer works.',
  'passkey-added': 'A passkey was added to your Lynxroom account.',
  'passkey-removed': 'A passkey was removed from your Lynxroom account.',
  'provider-linked': 'You can now sign in to your Lynxroom account with another provider.',
  'provider-unlinked': 'You can no longer sign in to your Lynxroom account with this provider.',
};

export function signInMethodsChanged({ change, name }: MailData['sign-in-methods-changed']): MailContent {
  return {
    subject: 'The sign-in methods of your account have changed',
    paragraphs: [changes[change]],
    facts: name === undefined ? [] : [['Name', quoteStranger(name)]],
    ending: NOT_YOU,
  };
}
