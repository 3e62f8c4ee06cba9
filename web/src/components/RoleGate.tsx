import { Lock } from 'lucide-react';
import type { ReactNode } from 'react';
import { isAtLeast, type Role, roleLabels } from '../lib/roles.ts';
import { useWorkspace } from '../lib/workspace.ts';
import { EmptyState } from './EmptyState.tsx';

const who: Record<Role, string> = {
  member: 'Members',
  admin: 'The owner and admins',
  owner: 'Only the owner',
};

/**
 * A page, or a part of one, that requires a role. Users without the role see an explanation instead. `to` completes the
 * sentence "Only the owner of Acme can …".
 */
export function RoleGate({ min, to, children }: { min: Role; to: string; children: ReactNode }) {
  const { role, name } = useWorkspace();
  if (isAtLeast(role, min)) return children;
  return (
    <EmptyState icon={<Lock aria-hidden size={28} />} title="Your role does not allow this">
      {who[min]} of {name} can {to}. Your role is {roleLabels[role].toLowerCase()}.
    </EmptyState>
  );
}
