import type { MailData } from '../kinds.ts';
import { formatTime, type MailContent, quoteStranger } from './content.ts';

export function apiKeyRotated(data: MailData['api-key-rotated']): MailContent {
  const { keyName, keyPrefix, workspaceName, rotatedBy, previousEndsAt } = data;
  return {
    subject: 'An API key was rotated',
    paragraphs: ['An API key that you created in Lynxroom has a new secret.'],
    facts: [
      ['Key', quoteStranger(keyName)],
      ['Now begins with', keyPrefix],
      ['Workspace', quoteStranger(workspaceName)],
      ['Rotated by', quoteStranger(rotatedBy)],
      ['Previous secret', previousEndsAt === null ? 'no longer works' : `works until ${formatTime(previousEndsAt)}`],
    ],
    ending:
      'If nobody in the workspace did this, switch the key off. If it was done with your account, also set a new ' +
      'password and sign out all other sessions.',
  };
}
