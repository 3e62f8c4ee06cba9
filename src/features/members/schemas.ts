import { z } from 'zod';
import { searchIn } from '../../core/list-filters.ts';
import { ListPageInput, nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { roles } from '../../core/roles.ts';
import { count, id, unixSeconds } from '../../core/validation.ts';

export const Member = z
  .object({
    id: id.describe('User ID'),
    name: z.string(),
    email: z.string(),
    email_verified: z.boolean().describe('Whether the member has confirmed the address'),
    role: z.enum(roles),
    joined_at: unixSeconds,
  })
  .meta({ id: 'Member', description: 'A member of a workspace' });
export type Member = z.infer<typeof Member>;

export const ListMembersInput = ListPageInput.extend({
  search: searchIn('the name or the address'),
  sort: z
    .enum(['joined_at', 'name'])
    .default('joined_at')
    .describe('Sort field; names are compared case-insensitively'),
  order: z.enum(['asc', 'desc']).default('asc').describe('`asc`: earliest or A first; `desc`: the reverse'),
});
export type ListMembersInput = z.infer<typeof ListMembersInput>;

export const MemberInput = z.object({ userId: requestedId.describe('User ID of the member') });
export type MemberInput = z.infer<typeof MemberInput>;

export const ChangeRoleInput = MemberInput.extend({
  role: z.enum(roles).describe('`owner` transfers the workspace, and the old owner becomes an admin'),
}).meta({ id: 'ChangeRoleRequest' });
export type ChangeRoleInput = z.infer<typeof ChangeRoleInput>;

export const RemovedMember = z
  .object({
    ok: z.literal(true),
    remaining_workspace_keys: count.describe(
      'The number of API keys that belong to the workspace and were created by the member. These still work, and the ' +
        'member may have copied them, so rotate them',
    ),
  })
  .meta({ id: 'RemovedMember' });
export type RemovedMember = z.infer<typeof RemovedMember>;

export const MembersAnswer = z.object({ members: z.array(Member), next_cursor: nextCursor }).meta({ id: 'MemberList' });
export const MemberAnswer = z.object({ member: Member }).meta({ id: 'MemberResponse' });
