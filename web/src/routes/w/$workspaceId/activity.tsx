/** The contact events that the analytics count: what happened in a range, of one type, in a room or on a booking page. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { createFileRoute, Link } from '@tanstack/react-router';
import { History } from 'lucide-react';
import { buttonClass } from '../../../components/Button.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { InfiniteTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { formatDateTime, formatNumber } from '../../../lib/format.ts';
import { useWorkspaceId } from '../../../lib/workspace.ts';
import { eventsOptions } from './-analytics/activity.ts';
import { type Activity, parseActivity } from './-analytics/activity-search.ts';
import { EventPlace } from './-contacts/EventPlace.tsx';
import { describeEvent, nameEvents } from './-contacts/event-names.ts';

type Event = Outputs['contacts']['listEvents']['events'][number];

/** The service counts no further. */
const MAX_COUNTED = 10_000;

export const Route = createFileRoute('/w/$workspaceId/activity')({
  validateSearch: parseActivity,
  loaderDeps: ({ search }) => search,
  loader: async ({ params, deps }) =>
    (await import('./-analytics/activity.ts')).loadEvents(Number(params.workspaceId), deps),
  component: ActivityPage,
});

function ActivityPage() {
  const id = useWorkspaceId();
  const search = Route.useSearch();
  const events = useInfiniteQuery(eventsOptions(id, search));
  const total = events.data?.pages[0]?.total;
  return (
    <>
      <PageHeader
        title={search.type === undefined ? 'Activity' : nameEvents(search.type)}
        text={describeRange(search)}
        actions={
          <Link to="/w/$workspaceId/analytics" params={{ workspaceId: String(id) }} className={buttonClass()}>
            Analytics
          </Link>
        }
      />
      <p role="status" className="mb-4 text-sm text-muted">
        {total !== undefined && countEvents(total)}
      </p>
      <InfiniteTable
        list={events}
        rowsOf={(page) => page.events}
        failure="The events could not be loaded"
        empty={
          <EmptyState icon={<History aria-hidden size={32} />} title="Nothing happened">
            The service deletes old events and those of erased people, which the totals still count.
          </EmptyState>
        }
        caption="Events"
        keyOf={(event) => event.id}
        columns={[
          { heading: 'When', cell: ({ created_at }) => <Time at={created_at} isRelative={false} /> },
          { heading: 'What', className: 'min-w-40', cell: ({ type }) => describeEvent(type) },
          { heading: 'Who', className: 'min-w-40', cell: ({ contact }) => <Who contact={contact} /> },
          { heading: 'Where', className: 'min-w-40', cell: (event) => <EventPlace event={event} /> },
        ]}
      />
    </>
  );
}

function Who({ contact }: Pick<Event, 'contact'>) {
  const id = useWorkspaceId();
  if (contact === null) return <span className="text-muted">Somebody without a contact</span>;
  return (
    <Link
      to="/w/$workspaceId/contacts/$contactId"
      params={{ workspaceId: String(id), contactId: String(contact.id) }}
      className="link wrap-anywhere"
    >
      {contact.name}
    </Link>
  );
}

function countEvents(total: number): string {
  return `${formatNumber(total)}${total >= MAX_COUNTED ? ' or more' : ''} ${total === 1 ? 'event' : 'events'}`;
}

function describeRange({ from, to }: Activity): string {
  const bounds = [from !== undefined && `from ${formatDateTime(from)}`, to !== undefined && `to ${formatDateTime(to)}`];
  const text = bounds.filter(Boolean).join(' ');
  return text === '' ? 'What guests and members did' : `What happened ${text}`;
}
