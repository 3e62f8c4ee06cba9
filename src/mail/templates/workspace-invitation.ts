import type { MailData } from '../kinds.ts';
import { createMailWriter } from '../texts.ts';
import { type MailContent, quoteStranger } from './content.ts';

export function workspaceInvitation(data: MailData['workspace-invitation']): MailContent {
  const { language = 'en' } = data;
  const write = createMailWriter(language);
  const name = quoteStranger(data.workspaceName);
  const workspace = data.personalOwner
    ? write('page.nameOfOwner', { owner: quoteStranger(data.personalOwner), workspace: name })
    : name;
  const role = write(data.role === 'admin' ? 'invitation.roleAdmin' : 'invitation.roleMember');
  return {
    language,
    subject: write('mail.invitationSubject'),
    paragraphs: [write('mail.invitationText')],
    facts: [
      [write('invitation.workspace'), workspace],
      [write('invitation.invitedBy'), quoteStranger(data.inviterName)],
      [write('invitation.role'), role],
    ],
    action: { label: write('mail.openInvitation'), link: data.link },
    ending: write('mail.invitationEnding'),
  };
}
