/** What happens in the workspace, as numbers and charts. */
import type { Outputs } from '@lynxroom/client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { ChartColumn, Download } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { buttonClass } from '../../../components/Button.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { Skeleton } from '../../../components/Skeleton.tsx';
import { formatNumber } from '../../../lib/format.ts';
import { useWorkspace } from '../../../lib/workspace.ts';
import { lifetimeOptions, rangeOptions, toRange } from './-analytics/queries.ts';
import { RangeFilters } from './-analytics/RangeFilters.tsx';
import { parseSearch } from './-analytics/search.ts';

type Lifetime = Outputs['analytics']['read'];
type Range = Outputs['analytics']['readRange'];

const changes = new Intl.NumberFormat(undefined, { signDisplay: 'always' });

const Charts = lazy(() => import('./-analytics/Charts.tsx').then((module) => ({ default: module.Charts })));

export const Route = createFileRoute('/w/$workspaceId/analytics')({
  validateSearch: parseSearch,
  // Not of `loaderDeps`, so that a change of the days does not wait for the answer: the charts stay until it is there.
  loader: async ({ params, location }) =>
    (await import('./-analytics/queries.ts')).loadAnalytics(Number(params.workspaceId), parseSearch(location.search)),
  component: AnalyticsPage,
});

function AnalyticsPage() {
  const { id } = useWorkspace();
  const search = Route.useSearch();
  const query = new URLSearchParams({ ...toRange(search), bom: 'true' });
  return (
    <>
      <PageHeader
        title="Analytics"
        text="Totals since the workspace was created, and what happened on the days that you choose"
        actions={
          <a href={`/api/workspaces/${id}/analytics.csv?${query}`} download className={buttonClass()}>
            <Download aria-hidden size={16} />
            Export the days
          </a>
        }
      />
      <Numbers />
    </>
  );
}

function Numbers() {
  const { id } = useWorkspace();
  const { data, error, refetch } = useQuery(lifetimeOptions(id));
  if (data !== undefined) {
    return (
      <>
        <Kpis {...data.kpis} />
        {isEmpty(data) ? <NothingYet /> : <Days />}
      </>
    );
  }
  if (error !== null) {
    return <ErrorPanel what="The analytics could not be loaded" error={error} onRetry={() => void refetch()} />;
  }
  return (
    <div role="status">
      <span className="sr-only">Loading</span>
      <div className="mb-6 grid grid-cols-2 gap-4 md:grid-cols-5">
        {['a', 'b', 'c', 'd', 'e'].map((key) => (
          <Skeleton key={key} className="h-20" />
        ))}
      </div>
      <ChartSkeletons />
    </div>
  );
}

/** What happened on the days that the address names. */
function Days() {
  const { id } = useWorkspace();
  const search = Route.useSearch();
  const navigate = useNavigate({ from: Route.fullPath });
  const range = useQuery({ ...rangeOptions(id, search), placeholderData: keepPreviousData });
  return (
    <>
      <RangeFilters
        search={search}
        shown={range.data}
        onChange={(next) => void navigate({ search: next, replace: true })}
      />
      {range.error !== null && (
        <ErrorPanel
          what="The analytics of these days could not be loaded"
          error={range.error}
          onRetry={() => void range.refetch()}
        />
      )}
      {range.isPending && <ChartSkeletons />}
      {range.data !== undefined && range.error === null && (
        <>
          <Totals {...range.data} />
          <Suspense fallback={<ChartSkeletons />}>
            <Charts range={range.data} />
          </Suspense>
        </>
      )}
    </>
  );
}

/** The sums of the days, and of as many days before if they are compared. */
function Totals({ totals, previous }: Range) {
  const tiles = [
    { label: 'Bookings', value: totals.bookings, before: previous?.totals.bookings },
    { label: 'Room joins', value: totals.room_joins, before: previous?.totals.room_joins },
    { label: 'New contacts', value: totals.new_contacts, before: previous?.totals.new_contacts },
  ];
  return (
    <dl aria-label="Totals of these days" className="m-0 mb-4 grid grid-cols-1 gap-4 sm:grid-cols-3">
      {tiles.map(({ label, value, before }) => (
        <div key={label} className="flex flex-col rounded-xl border border-line p-4">
          <dt className="text-sm text-muted">{label}</dt>
          <dd className="text-xl font-semibold tabular-nums">
            {formatNumber(value)}
            {before !== undefined && (
              <span className="ml-2 text-sm font-normal text-muted">{describeChange(value, before)}</span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Kpis({ rooms, recordings, recordingDuration, contacts, bookings }: Lifetime['kpis']) {
  const tiles = [
    { label: 'Rooms', value: formatNumber(rooms) },
    { label: 'Recordings', value: formatNumber(recordings) },
    { label: 'Recorded', value: formatHours(recordingDuration) },
    { label: 'Contacts', value: formatNumber(contacts) },
    { label: 'Bookings', value: formatNumber(bookings) },
  ];
  return (
    <dl className="m-0 mb-6 grid grid-cols-2 gap-4 md:grid-cols-5">
      {tiles.map(({ label, value }) => (
        <div key={label} className="flex flex-col rounded-xl border border-line p-4">
          <dt className="text-sm text-muted">{label}</dt>
          <dd className="text-xl font-semibold tabular-nums">{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function NothingYet() {
  const { id } = useWorkspace();
  return (
    <EmptyState
      icon={<ChartColumn aria-hidden size={32} />}
      title="Nothing has happened yet"
      action={
        <Link to="/w/$workspaceId/rooms" params={{ workspaceId: String(id) }} className={buttonClass('primary')}>
          Go to the rooms
        </Link>
      }
    >
      Charts appear here once guests book meetings and join rooms.
    </EmptyState>
  );
}

function ChartSkeletons() {
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      {['a', 'b'].map((key) => (
        <Skeleton key={key} className="h-72" />
      ))}
      {['c', 'd', 'e'].map((key) => (
        <Skeleton key={key} className="h-28" />
      ))}
    </div>
  );
}

/** Whether there has never been anything for any chart. */
function isEmpty({ kpis, eventTypeBreakdown }: Lifetime): boolean {
  return eventTypeBreakdown.length === 0 && kpis.contacts === 0;
}

function describeChange(value: number, before: number): string {
  if (value === before) return 'as many as before';
  return `${changes.format(value - before)} from ${formatNumber(before)}`;
}

/** `45 s`, `12 min`, and hours from one hour on. */
function formatHours(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  return `${formatNumber(Math.round(seconds / 360) / 10)} h`;
}
