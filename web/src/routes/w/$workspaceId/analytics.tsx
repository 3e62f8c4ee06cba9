/** What happens in the workspace, as numbers and charts. */
import type { Outputs } from '@lynxroom/client';
import { useQuery } from '@tanstack/react-query';
import { createFileRoute, Link } from '@tanstack/react-router';
import { ChartColumn } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { buttonClass } from '../../../components/Button.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { Skeleton } from '../../../components/Skeleton.tsx';
import { trpc } from '../../../lib/client.ts';
import { formatNumber } from '../../../lib/format.ts';
import { useWorkspace } from '../../../lib/workspace.ts';

type Analytics = Outputs['analytics']['read'];

const Charts = lazy(() => import('./-analytics/Charts.tsx').then((module) => ({ default: module.Charts })));

export const Route = createFileRoute('/w/$workspaceId/analytics')({ component: AnalyticsPage });

function AnalyticsPage() {
  return (
    <>
      <PageHeader
        title="Analytics"
        text="Totals since the workspace was created; daily charts cover the last 30 days, in UTC"
      />
      <Numbers />
    </>
  );
}

function Numbers() {
  const { id } = useWorkspace();
  const { data, error, refetch } = useQuery(trpc.analytics.read.queryOptions({ workspaceId: id }));
  if (data !== undefined) {
    return (
      <>
        <Kpis {...data.kpis} />
        {isEmpty(data) ? (
          <NothingYet />
        ) : (
          <Suspense fallback={<ChartSkeletons />}>
            <Charts analytics={data} />
          </Suspense>
        )}
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

function Kpis({ rooms, recordings, recordingDuration, contacts, bookings }: Analytics['kpis']) {
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

/** Whether there is nothing for any chart. */
function isEmpty({ activityTimeline, newContactsTimeline, eventTypeBreakdown }: Analytics): boolean {
  return [activityTimeline, newContactsTimeline, eventTypeBreakdown].every(({ length }) => length === 0);
}

/** `45 s`, `12 min`, and hours from one hour on. */
function formatHours(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`;
  return `${formatNumber(Math.round(seconds / 360) / 10)} h`;
}
