import { Ok } from '../core/shapes.ts';
import { changeRole, removeMember } from '../features/members/members.ts';
import { ChangeRoleInput, MemberAnswer, MemberInput } from '../features/members/schemas.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Members'];

export const membersRouter = router({
  changeRole: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/members/{userId}',
        tags,
        summary: 'Change the role of a member',
        description:
          'The owner may give any role to anyone. Giving the role `owner` transfers the workspace and makes the old ' +
          'owner an admin; 400 for Personal. Admins may promote members to admin.',
      },
    })
    .input(ChangeRoleInput)
    .output(MemberAnswer)
    .mutation(async ({ ctx, input }) => ({ member: await changeRole(ctx.services, ctx.actor, input) })),

  remove: inWorkspace('member')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/members/{userId}',
        tags,
        summary: 'Remove a member, or leave',
        description:
          'Every member except the owner may leave. The owner may remove anyone else; admins may remove members. ' +
          'Emits `member.left`.',
      },
    })
    .input(MemberInput)
    .output(Ok)
    .mutation(({ ctx, input }) => removeMember(ctx.services, ctx.actor, input)),
});
