import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { SearchAnswer, SearchInput } from '../features/search/schemas.ts';
import { searchWorkspace } from '../features/search/search.ts';
import { appUrlOf } from '../features/workspaces/app-url.ts';
import { createWorkspace } from '../features/workspaces/create-workspace.ts';
import { getInvite, joinWorkspace, lookUpInvite, revokeInvite } from '../features/workspaces/invites.ts';
import { joinByDomain, listJoinable } from '../features/workspaces/join-by-domain.ts';
import { readJoinDomain, setJoinDomain } from '../features/workspaces/join-domain.ts';
import { readMeetingSettings, setMeetingSettings } from '../features/workspaces/meeting-settings.ts';
import {
  Invite,
  InvitePreviewAnswer,
  InviteTokenInput,
  JoinableWorkspaces,
  JoinByDomainInput,
  JoinDomain,
  JoinInput,
  MeetingSettings,
  SetJoinDomainInput,
  SetSignInRequirementInput,
  SignInRequirementAnswer,
  UsageAnswer,
  WorkspaceAnswer,
  WorkspaceChangeInput,
  WorkspaceNameInput,
  WorkspaceReadAnswer,
  WorkspacesAnswer,
} from '../features/workspaces/schemas.ts';
import { readSignInRequirement, setSignInRequirement } from '../features/workspaces/sign-in-requirement.ts';
import { readUsage } from '../features/workspaces/usage.ts';
import { changeWorkspace, deleteWorkspace, listWorkspaces, readWorkspace } from '../features/workspaces/workspaces.ts';
import {
  anyoneNaming,
  inWorkspace,
  inWorkspaceBySession,
  inWorkspaceUnsatisfied,
  router,
  signedIn,
  signedInBySession,
} from '../trpc/procedures.ts';

const tags = ['Workspaces'];

export const workspacesRouter = router({
  list: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces',
        tags,
        summary: 'List workspaces',
        successDescription: 'The workspaces of the caller',
        description:
          'All workspaces of which the caller is a member, oldest first. With an API key, only its workspace.',
      },
    })
    .input(ListPageInput.default({}))
    .output(WorkspacesAnswer)
    .query(async ({ ctx, input }) => pageAs('workspaces', await listWorkspaces(ctx.services, ctx.caller, input))),

  create: signedInBySession
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces',
        tags,
        summary: 'Create a workspace',
        successDescription: 'The new workspace',
        description: 'The caller becomes the owner.',
      },
    })
    .input(WorkspaceNameInput)
    .output(WorkspaceAnswer)
    .mutation(async ({ ctx, input }) => ({ workspace: await createWorkspace(ctx.services, ctx.caller, input) })),

  read: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}',
        tags,
        summary: 'Read a workspace with its members',
        successDescription: 'The workspace and its members',
        description:
          'The members are in the order in which they joined. `limit`, `offset` and `cursor` select a page of them.',
      },
    })
    .input(ListPageInput)
    .output(WorkspaceReadAnswer)
    .query(async ({ ctx, input }) => readWorkspace(ctx.services, ctx.actor, input)),

  usage: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/usage',
        tags,
        summary: 'Read the usage of the quotas',
        successDescription: 'What the workspace uses of each quota',
        description:
          'Any member. `workspaces` counts those that the caller owns. Once a quota is reached, adding more returns ' +
          '409.',
      },
    })
    .output(UsageAnswer)
    .query(async ({ ctx }) => ({ usage: await readUsage(ctx.services, ctx.actor) })),

  search: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/search',
        tags,
        summary: 'Search rooms and library items',
        successDescription: 'The rooms and items that match',
        description:
          'Any member. Finds rooms by name or display name and library items by name, for a command palette. With an ' +
          'API key, rooms are found only with the scope `rooms:read`, and items only with `library:read`. Only ' +
          'rooms that the caller may read are found: all for the owner and admins, their own for members. The most ' +
          'recently used rooms and the most recently added items come first. Only the 20,000 ' +
          'most recently created rooms are searched.',
      },
    })
    .input(SearchInput)
    .output(SearchAnswer)
    .query(({ ctx, input }) => searchWorkspace(ctx.services, ctx.actor, input)),

  rename: inWorkspace('owner')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}',
        tags,
        summary: 'Change a workspace',
        successDescription: 'The changed workspace',
        description:
          'Owner only. Renames the workspace, or sets the origins whose pages may embed it, or both. The slug does ' +
          'not change.',
      },
    })
    .input(WorkspaceChangeInput)
    .output(WorkspaceAnswer)
    .mutation(async ({ ctx, input }) => ({ workspace: await changeWorkspace(ctx.services, ctx.actor, input) })),

  meetingSettings: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/meeting-settings',
        tags,
        summary: 'Read the meeting settings',
        successDescription: 'The meeting settings',
        description: 'Any member.',
      },
    })
    .output(MeetingSettings)
    .query(({ ctx }) => readMeetingSettings(ctx.services, ctx.actor)),

  setMeetingSettings: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/meeting-settings',
        tags,
        summary: 'Change the meeting settings',
        successDescription: 'The new meeting settings',
        description:
          'Owner or admin. Meetings that are running follow within half a minute. The `media` of a room has the same ' +
          'effect for one room.',
      },
    })
    .input(MeetingSettings)
    .output(MeetingSettings)
    .mutation(({ ctx, input }) => setMeetingSettings(ctx.services, ctx.actor, input)),

  signInRequirement: inWorkspaceUnsatisfied
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/sign-in-requirement',
        tags,
        summary: 'Read the required sign-in',
        successDescription: 'What the workspace requires',
        description:
          'Any member, also one whose session does not satisfy it: everything else in the workspace then returns 403 ' +
          'with the code `WORKSPACE_REQUIRES_SECOND_FACTOR` or `WORKSPACE_REQUIRES_PROVIDER`.',
      },
    })
    .output(SignInRequirementAnswer)
    .query(({ ctx }) => readSignInRequirement(ctx.services, ctx)),

  setSignInRequirement: inWorkspaceBySession('owner')
    .meta({
      needsRecentSignIn: true,
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/sign-in-requirement',
        tags,
        summary: 'Change the required sign-in',
        successDescription: 'What the workspace requires from now on',
        description:
          'Owner only, with a recent sign-in. Takes effect at once, for sessions and connected apps of all members; ' +
          'API keys keep working. 403 if the own session does not satisfy it. Not for a Personal workspace.',
      },
    })
    .input(SetSignInRequirementInput)
    .output(SignInRequirementAnswer)
    .mutation(({ ctx, input }) => setSignInRequirement(ctx.services, ctx, input)),

  joinDomain: inWorkspaceBySession('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/join-domain',
        tags,
        summary: 'Read the domain whose people may join',
        successDescription: 'The domain, and which one is possible',
        description: 'Owner or admin.',
      },
    })
    .output(JoinDomain)
    .query(({ ctx }) => readJoinDomain(ctx.services, ctx.actor)),

  setJoinDomain: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/join-domain',
        tags,
        summary: 'Change the domain whose people may join',
        successDescription: 'The domain, and which one is possible',
        description:
          "Owner only. The domain must be that of the owner's own confirmed address, and not of a public mail " +
          'provider. People whose confirmed address has this domain see the name of the workspace and of its owner, ' +
          'and can join as members. It has no effect while the owner has an address of another domain. Null switches ' +
          'it off; members stay. Not for a Personal workspace.',
      },
    })
    .input(SetJoinDomainInput)
    .output(JoinDomain)
    .mutation(({ ctx, input }) => setJoinDomain(ctx.services, ctx.actor, input)),

  delete: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}',
        tags,
        summary: 'Delete a workspace',
        successDescription: 'The workspace is deleted',
        description: 'Owner only. Deletes everything in it, including files. 400 for a Personal workspace.',
      },
    })
    .output(Ok)
    .mutation(({ ctx }) => deleteWorkspace(ctx.services, ctx.actor)),

  invite: inWorkspaceBySession('admin')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/invite',
        tags,
        summary: 'Get the invite link',
        successDescription: 'The invite link',
        description: 'Owner or admin. Returns the same link until it is revoked, or until somebody removes a member.',
      },
    })
    .output(Invite)
    .mutation(({ ctx }) => getInvite(ctx.services, ctx.actor, appUrlOf(ctx))),

  revokeInvite: inWorkspaceBySession('admin')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/invite',
        tags,
        summary: 'Revoke the invite link',
        successDescription: 'The invite link is revoked',
        description:
          'Owner or admin. Nobody can join with the link any more. The next request for ' +
          'the invite link creates a new one.',
      },
    })
    .output(Ok)
    .mutation(({ ctx }) => revokeInvite(ctx.services, ctx.actor)),

  lookUpInvite: anyoneNaming('token')
    .meta({
      refusals: [404],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/join/look-up',
        protect: false,
        tags,
        summary: 'Get the workspace of an invite link',
        successDescription: 'Where the invite link leads',
        description:
          'For anyone with the link, signed in or not. Changes nothing: the method is POST only to keep the token ' +
          'out of logs.',
      },
    })
    .input(InviteTokenInput)
    .output(InvitePreviewAnswer)
    .mutation(async ({ ctx, input }) => ({ invite: await lookUpInvite(ctx.services, input, ctx.origin) })),

  join: signedInBySession
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/join/{token}',
        tags,
        summary: 'Join a workspace with an invite link',
        successDescription: 'The workspace that the caller has joined',
        description: 'If the caller is already a member, returns the same response without a second `member.joined`.',
      },
    })
    .input(JoinInput)
    .output(WorkspaceAnswer)
    .mutation(async ({ ctx, input }) => ({ workspace: await joinWorkspace(ctx.services, ctx.caller, input.token) })),

  listJoinable: signedInBySession
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/joinable',
        tags,
        summary: 'List the workspaces that one may join',
        successDescription: 'The workspaces',
        description:
          "Workspaces whose owner lets people with the domain of the caller's confirmed address join, oldest first. " +
          'Without those of which the caller is a member, and those from which another member has removed them.',
      },
    })
    .input(ListPageInput.default({}))
    .output(JoinableWorkspaces)
    .query(async ({ ctx, input }) => pageAs('workspaces', await listJoinable(ctx.services, ctx.caller, input))),

  joinByDomain: signedInBySession
    .meta({
      refusals: [404, 409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/join',
        tags,
        summary: 'Join a workspace by the domain of the address',
        successDescription: 'The workspace that the caller has joined',
        description:
          'For the workspaces of `GET /api/workspaces/joinable`. The caller becomes a member. 404 for all others. If ' +
          'the caller is already a member, returns the same response without a second `member.joined`.',
      },
    })
    .input(JoinByDomainInput)
    .output(WorkspaceAnswer)
    .mutation(async ({ ctx, input }) => ({ workspace: await joinByDomain(ctx.services, ctx.caller, input) })),
});
