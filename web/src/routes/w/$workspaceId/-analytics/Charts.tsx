/** The charts of the analytics. They are loaded apart from the page. */
import type { Outputs } from '@lynxroom/client';
import { Link } from '@tanstack/react-router';
import { ChartTable } from '../../../../components/ChartTable.tsx';
import { formatNumber } from '../../../../lib/format.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { nameEvents } from '../-contacts/event-names.ts';
import { type Bar, Bars } from './Bars.tsx';
import { type ListLink, toContacts, toEvents } from './lists.ts';
import { Timeline } from './Timeline.tsx';

type Range = Outputs['analytics']['readRange'];

// The service sends dates without a time zone, so they are formatted as UTC.
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

export function Charts({ range }: { range: Range }) {
  const id = useWorkspaceId();
  const { days, event_types, top_booking_pages, top_rooms } = range;
  const whole = { starts_at: days[0]?.starts_at ?? 0, ends_at: days.at(-1)?.ends_at ?? 0 };
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <Activity {...range} />
      <NewContacts {...range} />
      <Ranking
        title="Events"
        rows={event_types.map(({ type, count }) => ({
          name: nameEvents(type),
          count,
          link: toEvents(id, whole, { type }),
        }))}
      />
      <Ranking
        title="Most booked pages"
        rows={top_booking_pages.map(({ id: page, title, count }) => ({
          name: title,
          count,
          link: toEvents(id, whole, { type: 'booking', page }),
        }))}
      />
      <Ranking
        title="Most joined rooms"
        rows={top_rooms.map(({ id: room, name, display_name, count }) => ({
          name: display_name ?? name,
          count,
          link: toEvents(id, whole, { type: 'room_join', room }),
        }))}
      />
    </div>
  );
}

function Activity({ days, totals }: Range) {
  const id = useWorkspaceId();
  const bookings = formatNumber(totals.bookings);
  const joins = formatNumber(totals.room_joins);
  return (
    <ChartTable
      title="Bookings and room joins"
      summary={`${describeLength(days)}: bookings ${bookings}, room joins ${joins}. The table lists every day.`}
      chart={
        <Timeline
          days={days.map((day) => ({
            label: formatDay(day.date),
            values: [day.bookings, day.room_joins],
            links: [toEvents(id, day, { type: 'booking' }), toEvents(id, day, { type: 'room_join' })],
          }))}
          series={['Bookings', 'Room joins']}
        />
      }
      rows={days}
      keyOf={({ date }) => date}
      columns={[
        { heading: 'Day', cell: ({ date }) => formatDay(date) },
        {
          heading: 'Bookings',
          isNumber: true,
          cell: (day) => <Count value={day.bookings} link={toEvents(id, day, { type: 'booking' })} />,
        },
        {
          heading: 'Room joins',
          isNumber: true,
          cell: (day) => <Count value={day.room_joins} link={toEvents(id, day, { type: 'room_join' })} />,
        },
      ]}
    />
  );
}

function NewContacts({ days, totals }: Range) {
  const id = useWorkspaceId();
  const total = formatNumber(totals.new_contacts);
  return (
    <ChartTable
      title="New contacts"
      summary={`${describeLength(days)}: new contacts ${total}. The table lists every day.`}
      chart={
        <Timeline
          days={days.map((day) => ({
            label: formatDay(day.date),
            values: [day.new_contacts],
            links: [toContacts(id, day)],
          }))}
          series={['New contacts']}
        />
      }
      rows={days}
      keyOf={({ date }) => date}
      columns={[
        { heading: 'Day', cell: ({ date }) => formatDay(date) },
        {
          heading: 'New contacts',
          isNumber: true,
          cell: (day) => <Count value={day.new_contacts} link={toContacts(id, day)} />,
        },
      ]}
    />
  );
}

/** Counts by name, the largest first. Names are not unique. */
function Ranking({ title, rows }: { title: string; rows: readonly Bar[] }) {
  const [first] = rows;
  return (
    <ChartTable
      title={title}
      summary={
        first === undefined
          ? 'None yet.'
          : `${first.name} comes first with ${formatNumber(first.count)}. The table lists all.`
      }
      chart={<Bars rows={rows} />}
      rows={rows.map((row, index) => ({ ...row, rank: index + 1 }))}
      keyOf={({ rank }) => rank}
      columns={[
        { heading: 'Name', className: 'min-w-40', cell: ({ name }) => name },
        { heading: 'Count', isNumber: true, cell: ({ count, link }) => <Count value={count} link={link} /> },
      ]}
    />
  );
}

/** A number that leads to what it counts. */
function Count({ value, link }: { value: number; link: ListLink }) {
  if (value === 0) return formatNumber(value);
  return (
    <Link {...link} className="link">
      {formatNumber(value)}
    </Link>
  );
}

function describeLength({ length }: Range['days']): string {
  return length === 1 ? 'On one day' : `In ${formatNumber(length)} days`;
}

function formatDay(date: string): string {
  return dayFormat.format(Date.parse(date));
}
