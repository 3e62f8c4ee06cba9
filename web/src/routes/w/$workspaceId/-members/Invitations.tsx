import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Send, X } from 'lucide-react';
import { Badge, type BadgeTone } from '../../../../components/Badge.tsx';
import { IconButton } from '../../../../components/Button.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { InfiniteTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { formatDateTime } from '../../../../lib/format.ts';
import { roleLabels } from '../../../../lib/roles.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { invitationsOptions } from './queries.ts';

type Invitation = Outputs['invitations']['list']['invitations'][number];

const states: Record<Invitation['state'], { label: string; tone: BadgeTone }> = {
  pending: { label: 'Invited', tone: 'accent' },
  failed: { label: 'Could not be delivered', tone: 'danger' },
  expired: { label: 'Expired', tone: 'warning' },
  accepted: { label: 'Accepted', tone: 'success' },
  revoked: { label: 'Revoked', tone: 'neutral' },
};

/** The invitations by mail: who has not come yet, with what can be done about it. */
export function Invitations() {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const list = useInfiniteQuery(invitationsOptions(id));
  const change = useMutation({
    async mutationFn({ kind, invitationId }: { kind: 'resend' | 'revoke'; invitationId: number }) {
      if (kind === 'resend') return sentOn((await client.invitations.resend.mutate({ id, invitationId })).invitation);
      await client.invitations.revoke.mutate({ id, invitationId });
      return 'The invitation was revoked';
    },
    onSuccess: (done) => showSuccess(done),
    onError: (error) => showError('Could not change the invitation', error),
    onSettled: () => queryClient.invalidateQueries(trpc.invitations.pathFilter()),
  });
  return (
    <>
      <h2 className="mt-8 mb-2 text-lg font-semibold">Invitations by mail</h2>
      <InfiniteTable
        list={list}
        rowsOf={(page) => page.invitations}
        failure="The invitations could not be loaded"
        empty={<p className="text-muted">Nobody was invited by mail.</p>}
        skeletonRows={2}
        caption="Invitations by mail"
        keyOf={(invitation) => invitation.id}
        columns={[
          {
            heading: 'Address',
            className: 'min-w-48',
            cell: ({ email }) => <span className="wrap-anywhere">{email}</span>,
          },
          { heading: 'Role', cell: ({ role }) => roleLabels[role] },
          {
            heading: 'State',
            cell: ({ state, scheduled_at }) =>
              scheduled_at === null ? (
                <Badge tone={states[state].tone}>{states[state].label}</Badge>
              ) : (
                <Badge>Waits</Badge>
              ),
          },
          {
            heading: 'Sent',
            cell: ({ sent_at, scheduled_at, invited_by_name }) => (
              <>
                {scheduled_at === null ? <Time at={sent_at} /> : `Will be sent on ${formatDateTime(scheduled_at)}`}{' '}
                <span className="block text-sm text-muted">by {invited_by_name}</span>
              </>
            ),
          },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-14 py-1',
            cell: ({ id: invitationId, email, state, scheduled_at }) =>
              state !== 'accepted' &&
              state !== 'revoked' && (
                <Menu
                  trigger={
                    <IconButton
                      label={`Actions on the invitation of ${email}`}
                      icon={<Ellipsis aria-hidden size={18} />}
                    />
                  }
                >
                  {scheduled_at === null && (
                    <MenuItem
                      icon={<Send aria-hidden size={16} />}
                      onSelect={() => change.mutate({ kind: 'resend', invitationId })}
                    >
                      Send again
                    </MenuItem>
                  )}
                  <MenuItem
                    isDanger
                    icon={<X aria-hidden size={16} />}
                    onSelect={() => change.mutate({ kind: 'revoke', invitationId })}
                  >
                    Revoke
                  </MenuItem>
                </Menu>
              ),
          },
        ]}
      />
    </>
  );
}

function sentOn({ scheduled_at }: Invitation): string {
  return scheduled_at === null
    ? 'A new link was sent'
    : `A new link will be sent on ${formatDateTime(scheduled_at)}: the invitations of today are used up`;
}
