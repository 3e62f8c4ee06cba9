import type { MailData } from '../kinds.ts';
import { type MailContent, quoteStranger } from './content.ts';

export function ownershipTransferred(data: MailData['ownership-transferred']): MailContent {
  const { workspaceName, newOwner, isYours } = data;
  return {
    subject: isYours ? 'You now own a workspace' : 'Your workspace has a new owner',
    paragraphs: [
      isYours
        ? 'The owner of a Lynxroom workspace has transferred it to you.'
        : 'You have transferred your Lynxroom workspace, and are now an admin of it.',
    ],
    facts: [
      ['Workspace', quoteStranger(workspaceName)],
      ['Owner', quoteStranger(newOwner)],
    ],
    ending: isYours
      ? 'Only the owner can delete the workspace and manage all its members.'
      : 'If this was not you, contact the new owner, set a new password and sign out all other sessions.',
  };
}
