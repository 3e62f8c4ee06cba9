import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { email, flag, id, unixSeconds } from '../../core/validation.ts';
import { Branding } from '../branding/public-branding.ts';

const invitedRoles = ['admin', 'member'] as const;
export type InvitedRole = (typeof invitedRoles)[number];

const invitationStates = ['pending', 'failed', 'expired', 'accepted', 'revoked'] as const;
export type InvitationState = (typeof invitationStates)[number];

export const Invitation = z
  .object({
    id,
    email: z.string().describe('The address to which the invitation was sent').meta({ example: 'ada@example.com' }),
    role: z.enum(invitedRoles).describe('The role that the person gets by accepting the invitation'),
    state: z
      .enum(invitationStates)
      .describe('Only the link of a pending invitation works; `failed`: the mail could not be delivered'),
    invited_by: id.nullable().describe('ID of the user who last sent the link; null if the user was deleted'),
    invited_by_name: z.string(),
    accepted_by: id.nullable().describe('ID of the user who accepted the invitation'),
    created_at: unixSeconds,
    sent_at: unixSeconds.describe('When the link was last sent; later than now while the invitation waits'),
    scheduled_at: unixSeconds
      .nullable()
      .describe('When the mail will be sent, while it waits because of the limit of a day; null otherwise'),
    expires_at: unixSeconds,
  })
  .meta({ id: 'Invitation', description: 'An invitation by mail' });
export type Invitation = z.infer<typeof Invitation>;

export const CreateInvitationInput = z
  .object({
    email: email.describe('The address to invite'),
    role: z.enum(invitedRoles).describe('The role that the person gets by accepting the invitation'),
  })
  .meta({ id: 'CreateInvitationRequest' });
export type CreateInvitationInput = z.infer<typeof CreateInvitationInput>;

export const InvitationInput = z.object({ invitationId: requestedId.describe('Invitation ID') });
export type InvitationInput = z.infer<typeof InvitationInput>;

export const InvitationTokenInput = z
  .object({ token: z.string().describe('The part of the link after `#token=`') })
  .meta({ id: 'InvitationTokenRequest' });
export type InvitationTokenInput = z.infer<typeof InvitationTokenInput>;

/** An invitation, as shown to anyone with its link. */
export const InvitationPreview = z
  .object({
    workspace_name: z.string(),
    is_personal: flag.describe('1 for the workspace that was created with the account of the owner'),
    owner_name: z.string(),
    email: z.string().describe('The address to which the invitation was sent'),
    role: z.enum(invitedRoles),
    invited_by_name: z.string(),
    expires_at: unixSeconds,
    is_expired: flag,
    branding: Branding,
  })
  .meta({ id: 'InvitationPreview' });
export type InvitationPreview = z.infer<typeof InvitationPreview>;

export const InvitationAnswer = z.object({ invitation: Invitation }).meta({ id: 'InvitationResponse' });
export const InvitationPreviewAnswer = z
  .object({ invitation: InvitationPreview })
  .meta({ id: 'InvitationPreviewResponse' });
export const InvitationList = z
  .object({ invitations: z.array(Invitation), next_cursor: nextCursor })
  .meta({ id: 'InvitationList' });
