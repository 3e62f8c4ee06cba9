/** What happened to the account. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { EmptyState } from '../../components/EmptyState.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { InfiniteTable } from '../../components/Table.tsx';
import { Time } from '../../components/Time.tsx';
import { trpc } from '../../lib/client.ts';

type Event = Outputs['auth']['log']['events'][number];

const PAGE_SIZE = 50;

const actions: Record<Event['action'], string> = {
  registered: 'Account created',
  signed_in: 'Signed in',
  sign_in_failed: 'Sign-in failed',
  reauthenticated: 'Identity confirmed',
  signed_out: 'Signed out',
  session_ended: 'Session ended',
  sessions_ended: 'Other sessions ended',
  password_changed: 'Password changed',
  password_reset: 'Password reset',
  email_change_requested: 'New email address requested',
  email_changed: 'Email address changed',
  email_verified: 'Email address confirmed',
  second_factor_enabled: 'Second factor switched on',
  second_factor_disabled: 'Second factor switched off',
  recovery_codes_created: 'New recovery codes',
  recovery_code_used: 'Recovery code used',
  passkey_added: 'Passkey added',
  passkey_removed: 'Passkey removed',
  identity_linked: 'Provider linked',
  identity_unlinked: 'Provider unlinked',
  api_key_created: 'API key created',
  api_key_rotated: 'API key rotated',
  api_keys_revoked: 'API keys revoked',
  access_ended: 'Lasting access ended',
  app_connected: 'App connected',
  app_disconnected: 'App disconnected',
  calendar_feed_created: 'Calendar feed created',
  calendar_feed_deleted: 'Calendar feed deleted',
  workspace_deleted: 'Workspace deleted',
  data_exported: 'Data exported',
  account_locked: 'Account locked',
  account_unlocked: 'Account unlocked',
};

export const Route = createFileRoute('/account/activity')({ component: ActivityPage });

function ActivityPage() {
  return (
    <>
      <PageHeader title="Activity" text="Sign-ins and changes to the security of your account" />
      <EventTable />
    </>
  );
}

function EventTable() {
  const log = useInfiniteQuery(
    trpc.auth.log.infiniteQueryOptions({ limit: PAGE_SIZE }, { getNextPageParam: (page) => page.next_cursor }),
  );
  return (
    <InfiniteTable
      list={log}
      rowsOf={(page) => page.events}
      failure="The activity could not be loaded"
      empty={<EmptyState icon={<History aria-hidden size={32} />} title="Nothing has happened yet" />}
      caption="Activity"
      keyOf={({ id }) => id}
      columns={[
        {
          heading: 'What',
          className: 'min-w-48',
          cell: ({ action, count, details }) => (
            <>
              <span className="font-medium">{actions[action]}</span>
              {count > 1 && ` (${count} times)`}
              <span className="block text-sm text-muted">{describe(details)}</span>
            </>
          ),
        },
        { heading: 'When', cell: ({ last_at }) => <Time at={last_at} /> },
        { heading: 'Address', cell: ({ address }) => address ?? 'The service' },
        { heading: 'Program', cell: ({ user_agent }) => user_agent ?? '', className: 'min-w-64 text-sm' },
      ]}
    />
  );
}

/** `method: passkey, name: Laptop`, from the details of the event. */
function describe(details: Event['details']): string {
  return Object.entries(details)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${String(value).replaceAll('_', ' ')}`)
    .join(', ');
}
