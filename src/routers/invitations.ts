import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { acceptInvitation } from '../features/invitations/accept-invitation.ts';
import { listInvitations, lookUpInvitation } from '../features/invitations/read-invitations.ts';
import { revokeInvitation } from '../features/invitations/revoke-invitation.ts';
import {
  CreateInvitationInput,
  InvitationAnswer,
  InvitationInput,
  InvitationList,
  InvitationPreviewAnswer,
  InvitationTokenInput,
} from '../features/invitations/schemas.ts';
import { createInvitation, resendInvitation } from '../features/invitations/send-invitations.ts';
import { WorkspaceAnswer } from '../features/workspaces/schemas.ts';
import { anyoneNaming, inWorkspaceBySession, router, signedInBySession } from '../trpc/procedures.ts';
import { clientOf } from '../trpc/sign-in.ts';

const tags = ['Members'];

export const invitationsRouter = router({
  list: inWorkspaceBySession('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/invitations',
        tags,
        summary: 'List the invitations',
        successDescription: 'The invitations of the workspace',
        description:
          'Owner or admin. Returns all invitations, newest first. An invitation is deleted a month after it expires.',
      },
    })
    .input(ListPageInput)
    .output(InvitationList)
    .query(async ({ ctx, input }) => pageAs('invitations', await listInvitations(ctx.services, ctx.actor, input))),

  create: inWorkspaceBySession('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/invitations',
        tags,
        summary: 'Invite a person by mail',
        successDescription: 'The invitation',
        description:
          'Owner or admin. Sends a link that works once, within 7 days. No API response contains the link. Beyond ' +
          '`INVITATIONS_PER_DAY` messages of the workspace or the caller in 24 hours, the mail waits until ' +
          '`scheduled_at`; 429 if it would wait more than 10 days. 409 if a member has the address, or if the ' +
          'address has a pending invitation.',
      },
    })
    .input(CreateInvitationInput)
    .output(InvitationAnswer)
    .mutation(async ({ ctx, input }) => ({ invitation: await createInvitation(ctx.services, ctx.actor, input) })),

  resend: inWorkspaceBySession('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/invitations/{invitationId}/resend',
        tags,
        summary: 'Resend an invitation',
        successDescription: 'The invitation',
        description:
          'Owner or admin. Sends a new link, which works for 7 days, and can wait as that of a new invitation. The ' +
          'old link stops working. 409 while the invitation waits.',
      },
    })
    .input(InvitationInput)
    .output(InvitationAnswer)
    .mutation(async ({ ctx, input }) => ({ invitation: await resendInvitation(ctx.services, ctx.actor, input) })),

  revoke: inWorkspaceBySession('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/invitations/{invitationId}',
        tags,
        summary: 'Revoke an invitation',
        successDescription: 'The invitation is revoked',
        description: 'Owner or admin. The link stops working. 409 if the invitation was already accepted or revoked.',
      },
    })
    .input(InvitationInput)
    .output(Ok)
    .mutation(({ ctx, input }) => revokeInvitation(ctx.services, ctx.actor, input)),

  lookUp: anyoneNaming('token')
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/invitations/look-up',
        protect: false,
        tags,
        summary: 'Get an invitation',
        successDescription: 'The invitation',
        description:
          'For anyone with the link, signed in or not. Changes nothing: the method is POST only to keep the token ' +
          'out of logs.',
      },
    })
    .input(InvitationTokenInput)
    .output(InvitationPreviewAnswer)
    .mutation(async ({ ctx, input }) => ({ invitation: await lookUpInvitation(ctx.services, input, ctx.origin) })),

  accept: signedInBySession
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/invitations/accept',
        tags,
        summary: 'Accept an invitation',
        successDescription: 'The workspace that the caller has joined',
        description:
          'The token works once, for any account. If the account has the invited address, this call also confirms ' +
          'the address. 409 if the invitation has expired or the caller is already a member. Emits `member.joined`.',
      },
    })
    .input(InvitationTokenInput)
    .output(WorkspaceAnswer)
    .mutation(async ({ ctx, input }) => {
      const call = { caller: ctx.caller, client: clientOf(ctx) };
      return { workspace: await acceptInvitation(ctx.services, call, input) };
    }),
});
