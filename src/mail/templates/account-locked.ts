import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

const LOCKED =
  'An operator of Lynxroom locked your account. You cannot sign in. All sessions have ended, and all API keys ' +
  'that you created are revoked.';
const UNLOCKED =
  'An operator of Lynxroom unlocked your account. You can sign in again. Your API keys stay revoked: create new ones.';

export function accountLocked({ isLocked }: MailData['account-locked']): MailContent {
  return {
    subject: isLocked ? 'Your account was locked' : 'Your account was unlocked',
    paragraphs: [isLocked ? LOCKED : UNLOCKED],
    ending: 'If you do not know why, contact the operator.',
  };
}
