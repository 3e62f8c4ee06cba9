/** The apps that the user has connected with OAuth. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { Plug } from 'lucide-react';
import { Button } from '../../components/Button.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { InfiniteTable } from '../../components/Table.tsx';
import { Time } from '../../components/Time.tsx';
import { client, trpc } from '../../lib/client.ts';
import { useOptimisticMutation } from '../../lib/optimistic.ts';
import { describeScope } from '../../lib/scopes.ts';
import { showSuccess } from '../../lib/toasts.ts';

type App = Outputs['apps']['list']['apps'][number];

const PAGE_SIZE = 50;

export const Route = createFileRoute('/account/apps')({ component: AppsPage });

const listOptions = trpc.apps.list.infiniteQueryOptions(
  { limit: PAGE_SIZE },
  { getNextPageParam: (page) => page.next_cursor },
);

function AppsPage() {
  return (
    <>
      <PageHeader
        title="Connected apps"
        text="Agents that act for you in a workspace. Disconnect any that you do not know."
      />
      <AppTable />
    </>
  );
}

function AppTable() {
  const apps = useInfiniteQuery(listOptions);
  const disconnect = useOptimisticMutation({
    mutationFn: ({ id }: App) => client.apps.disconnect.mutate({ appId: id }),
    apply(cache, { id }) {
      cache.update(listOptions.queryKey, (answer) => ({
        ...answer,
        pages: answer.pages.map((page) => ({ ...page, apps: page.apps.filter((one) => one.id !== id) })),
      }));
    },
    failure: 'Could not disconnect the app',
    onSuccess: (_answer, { name }) => showSuccess(`${name} was disconnected`),
  });
  return (
    <InfiniteTable
      list={apps}
      rowsOf={(page) => page.apps}
      failure="The apps could not be loaded"
      empty={
        <EmptyState icon={<Plug aria-hidden size={32} />} title="No app is connected">
          To connect an agent, add the address {`${location.origin}/mcp`} to it.
        </EmptyState>
      }
      caption="Connected apps"
      keyOf={({ id }) => id}
      columns={[
        {
          heading: 'App',
          className: 'min-w-48',
          cell: ({ name, redirect_host }) => (
            <>
              <span className="font-medium">{name}</span>
              <span className="block text-sm break-all text-muted">{redirect_host}</span>
            </>
          ),
        },
        {
          heading: 'May do',
          className: 'min-w-48',
          cell: ({ workspace_name, scopes }) => (
            <>
              {workspace_name}
              {scopes.map((scope) => (
                <span key={scope} className="block text-sm text-muted">
                  {describeScope(scope)}
                </span>
              ))}
            </>
          ),
        },
        {
          heading: 'Last used',
          cell: ({ last_used_at, last_used_address }) =>
            last_used_at === null ? (
              'Never'
            ) : (
              <>
                <Time at={last_used_at} />
                <span className="block text-sm text-muted">{last_used_address}</span>
              </>
            ),
        },
        { heading: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
        {
          heading: 'Actions',
          isHeadingHidden: true,
          className: 'w-32 py-1',
          cell: (app) => (
            <Button size="small" aria-label={`Disconnect ${app.name}`} onClick={() => disconnect.mutate(app)}>
              Disconnect
            </Button>
          ),
        },
      ]}
    />
  );
}
