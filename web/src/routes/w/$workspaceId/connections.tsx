/** The connections to meeting providers: create, set up, replace credentials, delete. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { Ellipsis, Plug, Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button, IconButton } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { ConfirmDialog, Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { Menu, MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { WholeTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { allPagesOf } from '../../../lib/all-pages.ts';
import { client, trpc } from '../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../lib/live.ts';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { CreateForm, RotateForm, type WithSecret } from './-connections/ConnectionForm.tsx';
import { type Connection, providers } from './-connections/providers.ts';
import { Setup } from './-connections/Setup.tsx';
import { Unmatched } from './-connections/Unmatched.tsx';

type Opened =
  | { kind: 'create' }
  | { kind: 'setup'; connection: Connection; secret: string | null }
  | { kind: 'rotate' | 'unmatched' | 'delete'; connection: Connection };

export const Route = createFileRoute('/w/$workspaceId/connections')({ component: ConnectionsPage });

/** Polls, because a callback of a provider changes the state. */
function useConnections() {
  const id = useWorkspaceId();
  return useQuery({
    queryKey: [...trpc.connections.list.queryKey({ id }), 'all'],
    queryFn: ({ signal }) =>
      allPagesOf(
        (cursor) => client.connections.list.query({ id, cursor }, { signal }),
        (page) => page.connections,
      ),
    refetchInterval: LIVE_POLL_MS,
  });
}

function ConnectionsPage() {
  const isOwner = useHasRole('owner');
  const [opened, setOpened] = useState<Opened | null>(null);
  return (
    <>
      <PageHeader
        title="Connections"
        text="Meeting providers that report what happens in rooms"
        actions={
          isOwner && (
            <Button
              tone="primary"
              icon={<Plus aria-hidden size={18} />}
              aria-keyshortcuts={CREATE_KEY}
              onClick={() => setOpened({ kind: 'create' })}
            >
              New connection
            </Button>
          )
        }
      />
      <RoleGate min="owner" to="see and create connections">
        <ConnectionTable onOpen={setOpened} />
        <Dialogs opened={opened} onOpen={setOpened} />
      </RoleGate>
    </>
  );
}

function ConnectionTable({ onOpen }: { onOpen: (opened: Opened) => void }) {
  const connections = useConnections();
  return (
    <WholeTable
      caption="Connections"
      list={connections}
      rowsOf={(data) => data}
      failure="The connections could not be loaded"
      empty={
        <EmptyState icon={<Plug aria-hidden size={32} />} title="There are no connections yet">
          Through a connection, a meeting provider reports who joins and leaves a room, and delivers recordings.
        </EmptyState>
      }
      keyOf={(connection) => connection.id}
      columns={[
        {
          heading: 'Name',
          className: 'min-w-40',
          cell: ({ name, provider }) => (
            <>
              <span className="font-medium wrap-anywhere">{name}</span>
              <span className="block text-sm text-muted">{providers[provider].label}</span>
            </>
          ),
        },
        {
          heading: 'State',
          className: 'whitespace-nowrap',
          cell: (connection) => <State {...connection} />,
        },
        {
          heading: 'URL for callbacks',
          className: 'min-w-56',
          cell: ({ name, ingest_url }) => (
            <span className="flex items-center gap-1">
              <code className="font-mono text-sm wrap-anywhere">{ingest_url}</code>
              <CopyButton text={ingest_url} label={`Copy the URL of ${name}`} />
            </span>
          ),
        },
        { heading: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        {
          heading: 'Actions',
          isHeadingHidden: true,
          className: 'w-14 py-1',
          cell: (connection) => (
            <Menu
              trigger={<IconButton label={`Actions on ${connection.name}`} icon={<Ellipsis aria-hidden size={18} />} />}
            >
              <MenuItem onSelect={() => onOpen({ kind: 'setup', connection, secret: null })}>Set up</MenuItem>
              <MenuItem onSelect={() => onOpen({ kind: 'unmatched', connection })}>Unmatched callbacks</MenuItem>
              <MenuItem onSelect={() => onOpen({ kind: 'rotate', connection })}>Replace the credentials</MenuItem>
              <MenuItem isDanger onSelect={() => onOpen({ kind: 'delete', connection })}>
                Delete
              </MenuItem>
            </Menu>
          ),
        },
      ]}
    />
  );
}

function State({ last_event_at }: Connection) {
  if (last_event_at === null) return <Badge tone="warning">No callback yet</Badge>;
  return (
    <>
      <Badge tone="success">Connected</Badge>
      <span className="block text-sm text-muted">
        Last callback <Time at={last_event_at} />
      </span>
    </>
  );
}

function Dialogs({ opened, onOpen }: { opened: Opened | null; onOpen: (opened: Opened | null) => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const connections = useConnections();
  const close = (): void => onOpen(null);
  const showSetup = (connection: WithSecret): void => onOpen({ kind: 'setup', connection, secret: connection.secret });
  if (opened === null) return null;
  if (opened.kind === 'create') {
    return (
      <OpenDialog title="New connection" onClose={close}>
        <CreateForm onCreated={showSetup} />
      </OpenDialog>
    );
  }
  // The current state of the connection. A new connection is not in the list for a moment.
  const now = connections.data?.find(({ id: listed }) => listed === opened.connection.id);
  const connection = now ?? opened.connection;
  if (opened.kind === 'delete') {
    return (
      <ConfirmDialog
        onClose={close}
        title={`Delete ${connection.name}?`}
        text="Callbacks to its URL are refused. Participants and recordings that it reported remain. This cannot be undone."
        action="Delete"
        onConfirm={async () => {
          await client.connections.delete.mutate({ id, connectionId: connection.id });
          await queryClient.invalidateQueries(trpc.connections.pathFilter());
          showSuccess('The connection was deleted');
        }}
      />
    );
  }
  if (opened.kind === 'rotate') {
    return (
      <OpenDialog
        title={`Replace the credentials of ${connection.name}`}
        text="Callbacks signed with the previous credentials are still accepted for 24 hours. The URL stays the same."
        onClose={close}
      >
        <RotateForm connection={connection} onRotated={showSetup} />
      </OpenDialog>
    );
  }
  if (opened.kind === 'unmatched') {
    return (
      <OpenDialog title="Callbacks that matched nothing" onClose={close}>
        <Unmatched connectionId={connection.id} />
      </OpenDialog>
    );
  }
  return (
    <OpenDialog title={`Set up ${connection.name}`} onClose={close}>
      <Setup connection={connection} secret={opened.kind === 'setup' ? opened.secret : null} onDone={close} />
    </OpenDialog>
  );
}

type OpenDialogProps = { title: string; text?: string; onClose: () => void; children: ReactNode };

function OpenDialog({ title, text, onClose, children }: OpenDialogProps) {
  return (
    <Dialog onClose={onClose} title={title} description={text} isWide>
      {children}
    </Dialog>
  );
}
