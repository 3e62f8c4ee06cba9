import type { MailData } from '../kinds.ts';
import type { MailContent } from './content.ts';

export function apiKeyCreated({ keyName, keyPrefix, workspaceName }: MailData['api-key-created']): MailContent {
  return {
    subject: 'A new API key was created',
    paragraphs: ['An API key was created with your account at Lynxroom. Programs that have it act for you.'],
    facts: [
      ['Key', keyName],
      ['Begins with', keyPrefix],
      ['Workspace', workspaceName],
    ],
    ending: 'If this was not you, delete the key, set a new password and sign out all other sessions.',
  };
}
