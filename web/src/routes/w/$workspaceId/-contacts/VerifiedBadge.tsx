import { BadgeCheck } from 'lucide-react';
import { Badge } from '../../../../components/Badge.tsx';

/** Whether the person has shown that the address is theirs. */
export function VerifiedBadge({ isVerified }: { isVerified: boolean }) {
  if (!isVerified) return <Badge>Not confirmed</Badge>;
  return (
    <Badge tone="success">
      <BadgeCheck aria-hidden size={14} />
      Confirmed
    </Badge>
  );
}
