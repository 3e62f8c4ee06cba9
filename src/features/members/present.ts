import { toRole } from '../../core/roles.ts';
import { toUnixSeconds } from '../../core/time.ts';
import type { Member } from './schemas.ts';

/** The columns that `toMember` needs. */
export const memberColumns = {
  role: true,
  joinedAt: true,
  user: { select: { id: true, name: true, email: true, emailVerifiedAt: true } },
} as const;

type MemberRow = {
  role: string;
  joinedAt: Date;
  user: { id: number; name: string; email: string; emailVerifiedAt: Date | null };
};

export function toMember({ role, joinedAt, user }: MemberRow): Member {
  return {
    id: user.id,
    name: user.name,
    email: user.email,
    email_verified: user.emailVerifiedAt !== null,
    role: toRole(role),
    joined_at: toUnixSeconds(joinedAt),
  };
}
