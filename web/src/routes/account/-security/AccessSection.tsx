import type { Outputs } from '@lynxroom/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { ConfirmDialog } from '../../../components/Dialog.tsx';
import { Section } from '../../../components/Section.tsx';
import { WholeTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, queryClient } from '../../../lib/client.ts';
import { withRecentSignIn } from '../../../lib/recent-sign-in.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { accessOptions } from './queries.ts';

type Access = Outputs['access']['list']['access'][number];

const kinds: Record<
  Access['kind'],
  { title: string; end(access: { id: number; workspaceId: number }): Promise<unknown> }
> = {
  calendar_feed: { title: 'Calendar feed', end: () => client.calendarFeed.delete.mutate() },
  passkey: { title: 'Passkey', end: ({ id }) => client.passkeys.remove.mutate({ passkeyId: id }) },
  identity: { title: 'Linked account', end: ({ id }) => client.openid.unlink.mutate({ identityId: id }) },
  app: { title: 'Connected app', end: ({ id }) => client.apps.disconnect.mutate({ appId: id }) },
  api_key: {
    title: 'API key',
    end: ({ id, workspaceId }) => client.apiKeys.toggle.mutate({ id: workspaceId, keyId: id, is_active: 0 }),
  },
  webhook: {
    title: 'Webhook',
    end: ({ id, workspaceId }) => client.webhooks.update.mutate({ id: workspaceId, webhookId: id, is_active: 0 }),
  },
  connection: {
    title: 'Meeting connection',
    end: ({ id, workspaceId }) => client.connections.delete.mutate({ id: workspaceId, connectionId: id }),
  },
  invite_link: {
    title: 'Invite link',
    end: ({ workspaceId }) => client.workspaces.revokeInvite.mutate({ id: workspaceId }),
  },
  invitation: {
    title: 'Invitation',
    end: ({ id, workspaceId }) => client.invitations.revoke.mutate({ id: workspaceId, invitationId: id }),
  },
};

/** What gives access for longer than a session. A change of the password ends only connected apps. */
export function AccessSection() {
  const access = useQuery(accessOptions);
  const [asked, setAsked] = useState<Access | 'all' | null>(null);
  const entries = access.data?.access ?? [];
  const total = access.data?.total ?? 0;
  return (
    <Section
      title="Lasting access"
      text="What you have created here works without your password. Of this, a change of the password ends only connected apps. End what you do not know."
      actions={
        entries.some(({ ends_on_reset }) => ends_on_reset) && <Button onClick={() => setAsked('all')}>End all</Button>
      }
    >
      <AccessTable list={access} onEnd={setAsked} />
      {total > entries.length && (
        <p>
          These are the newest {entries.length} of {total}.
        </p>
      )}
      {asked !== null && <EndDialog asked={asked} onClose={() => setAsked(null)} />}
    </Section>
  );
}

type AccessTableProps = { list: UseQueryResult<Outputs['access']['list'], unknown>; onEnd: (access: Access) => void };

function AccessTable({ list, onEnd }: AccessTableProps) {
  return (
    <WholeTable
      caption="Lasting access"
      list={list}
      rowsOf={(answer) => answer.access}
      failure="The access could not be loaded"
      empty={<p>There is none.</p>}
      skeletonRows={1}
      keyOf={({ kind, workspace_id, id }) => `${kind} ${workspace_id} ${id}`}
      columns={[
        {
          heading: 'Access',
          className: 'min-w-48',
          cell: (access) => (
            <>
              <span className="font-medium">{nameOf(access)}</span>
              <span className="block text-sm text-muted">
                {access.workspace_name ?? 'Your account'}
                {!access.ends_on_reset && ', used by the other members too'}
              </span>
            </>
          ),
        },
        {
          heading: 'Created',
          cell: ({ created_at }) => (created_at === null ? 'Unknown' : <Time at={created_at} />),
        },
        {
          heading: 'Last used',
          cell: ({ last_used_at }) => (last_used_at === null ? 'Unknown' : <Time at={last_used_at} />),
        },
        {
          heading: 'Actions',
          isHeadingHidden: true,
          className: 'w-24 py-1',
          cell: (access) => (
            <Button size="small" aria-label={`End ${nameOf(access)}`} onClick={() => onEnd(access)}>
              End
            </Button>
          ),
        },
      ]}
    />
  );
}

function nameOf({ kind, name }: Access): string {
  return name === null ? kinds[kind].title : `${kinds[kind].title}: ${name}`;
}

function EndDialog({ asked, onClose }: { asked: Access | 'all'; onClose: () => void }) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title={asked === 'all' ? 'End all lasting access?' : `End ${nameOf(asked)}?`}
      text={
        asked === 'all'
          ? 'Programs and calendars that use it stop working. What other members of a workspace use too remains.'
          : 'What uses it stops working.'
      }
      action={asked === 'all' ? 'End all' : 'End'}
      onConfirm={async () => {
        await withRecentSignIn(() => end(asked));
        // The other sections of the page show some of it.
        await queryClient.invalidateQueries();
        showSuccess('The access has ended');
      }}
    />
  );
}

function end(asked: Access | 'all'): Promise<unknown> {
  if (asked === 'all') return client.access.end.mutate();
  // Only a kind that needs an ID has it.
  return kinds[asked.kind].end({ id: asked.id ?? 0, workspaceId: asked.workspace_id ?? 0 });
}
