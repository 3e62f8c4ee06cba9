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
import { anyone, inWorkspaceBySession, router, signedInBySession } from '../trpc/procedures.ts';
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
        description: 'Owner or admin. Newest first. Invitations are listed until a month after they expire.',
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
        summary: 'Invite somebody by mail',
        successDescription: 'The invitation',
        description:
          'Owner or admin. Sends a link that works once, for 7 days. No API response contains it. 409 if a member ' +
          'has the address, or if it has a pending invitation.',
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
        summary: 'Send an invitation again',
        successDescription: 'The invitation',
        description: 'Owner or admin. Sends a new link, which works for 7 days; the old link no longer works.',
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
        description: 'Owner or admin. Its link no longer works. 409 if it was already accepted or revoked.',
      },
    })
    .input(InvitationInput)
    .output(Ok)
    .mutation(({ ctx, input }) => revokeInvitation(ctx.services, ctx.actor, input)),

  lookUp: anyone
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/invitations/look-up',
        protect: false,
        tags,
        summary: 'Look at an invitation',
        successDescription: 'The invitation',
        description:
          'For anybody with its link, signed in or not. Changes nothing: it is a POST so that no log has the token.',
      },
    })
    .input(InvitationTokenInput)
    .output(InvitationPreviewAnswer)
    .mutation(async ({ ctx, input }) => ({ invitation: await lookUpInvitation(ctx.services, input) })),

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
          'Works once, for any account. If the account has the invited address, this also confirms the address. 409 ' +
          'if the invitation has expired or the caller is already a member. Emits `member.joined`.',
      },
    })
    .input(InvitationTokenInput)
    .output(WorkspaceAnswer)
    .mutation(async ({ ctx, input }) => {
      const call = { caller: ctx.caller, client: clientOf(ctx) };
      return { workspace: await acceptInvitation(ctx.services, call, input) };
    }),
});
