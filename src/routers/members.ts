import { pageAs } from '../core/list-page.ts';
import { listMembers } from '../features/members/list-members.ts';
import { changeRole, removeMember } from '../features/members/members.ts';
import {
  ChangeRoleInput,
  ListMembersInput,
  MemberAnswer,
  MemberInput,
  MembersAnswer,
  RemovedMember,
} from '../features/members/schemas.ts';
import { requireRecentSignIn } from '../trpc/access.ts';
import { inWorkspace, inWorkspaceBySession, router } from '../trpc/procedures.ts';

const tags = ['Members'];

export const membersRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/members',
        tags,
        summary: 'List the members',
        successDescription: 'A page of the members',
        description: 'Any member. Finds members by a part of their name or address, in the order of `sort`.',
      },
    })
    .input(ListMembersInput)
    .output(MembersAnswer)
    .query(async ({ ctx, input }) => pageAs('members', await listMembers(ctx.services, ctx.actor, input))),

  changeRole: inWorkspaceBySession('admin')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/members/{userId}',
        tags,
        summary: 'Change the role of a member',
        successDescription: 'The member with the new role',
        description:
          'The owner may give any role to anyone. Giving the role `owner` transfers the workspace and makes the old ' +
          'owner an admin; it needs a recent sign-in. Admins may promote members to admin. 400 if a Personal ' +
          'workspace would be transferred.',
      },
    })
    .input(ChangeRoleInput)
    .output(MemberAnswer)
    .mutation(async ({ ctx, input }) => {
      if (input.role === 'owner') requireRecentSignIn(ctx);
      return { member: await changeRole(ctx.services, ctx.actor, input) };
    }),

  remove: inWorkspaceBySession('member')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/members/{userId}',
        tags,
        summary: 'Remove a member, or leave',
        successDescription: 'The member is removed',
        description:
          'Every member except the owner may leave. The owner may remove anyone else, ' +
          'and admins may remove members. The API keys that act for the removed user in the workspace are revoked. ' +
          'Keys that this user made for the workspace pass to its owner and remain active, and the response says how ' +
          'many. Removing somebody else also revokes the invite link. Emits `member.left`.',
      },
    })
    .input(MemberInput)
    .output(RemovedMember)
    .mutation(({ ctx, input }) => removeMember(ctx.services, ctx.actor, input)),
});
