import type { MailData } from '../kinds.ts';
import { type MailContent, quoteStranger } from './content.ts';

export function apiKeyCreated(data: MailData['api-key-created']): MailContent {
  const { keyName, keyPrefix, workspaceName, isOfWorkspace } = data;
  const use = isOfWorkspace ? 'act for the workspace' : 'act for you';
  return {
    subject: 'A new API key was created',
    paragraphs: [`Your Lynxroom account was used to create an API key. Programs that use this key ${use}.`],
    facts: [
      ['Key', quoteStranger(keyName)],
      ['Begins with', keyPrefix],
      ['Workspace', quoteStranger(workspaceName)],
    ],
    ending: 'If this was not you, delete the key, set a new password and sign out all other sessions.',
  };
}
