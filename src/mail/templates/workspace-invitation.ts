import type { MailData } from '../kinds.ts';
import { type MailContent, quoteStranger } from './content.ts';

export function workspaceInvitation(data: MailData['workspace-invitation']): MailContent {
  return {
    subject: 'Invitation to a Lynxroom workspace',
    paragraphs: ['You are invited to join a Lynxroom workspace.'],
    facts: [
      ['Workspace', quoteStranger(data.workspaceName)],
      ['Invited by', quoteStranger(data.inviterName)],
      ['Role', data.role],
    ],
    action: { label: 'Open the invitation', link: data.link },
    ending: 'The link works once. If you do not know who invited you, ignore this message.',
  };
}
