/** The charts of the analytics. They are loaded apart from the page. */
import type { Outputs } from '@lynxroom/client';
import { ChartTable } from '../../../../components/ChartTable.tsx';
import { formatNumber } from '../../../../lib/format.ts';
import { Bars } from './Bars.tsx';
import { lastDays } from './days.ts';
import { Timeline } from './Timeline.tsx';

type Analytics = Outputs['analytics']['read'];

const types: Readonly<Record<string, string>> = {
  booking: 'Meetings booked',
  booking_cancelled: 'Meetings cancelled',
  booking_rescheduled: 'Meetings moved',
  room_join: 'Rooms joined',
};

// The service sends dates without a time zone, so they are formatted as UTC.
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

export function Charts({ analytics }: { analytics: Analytics }) {
  const { eventTypeBreakdown, topBookingPages, topRooms } = analytics;
  return (
    <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
      <Activity {...analytics} />
      <NewContacts {...analytics} />
      <Ranking
        title="Events"
        rows={eventTypeBreakdown.map(({ type, count }) => ({ name: types[type] ?? type.replaceAll('_', ' '), count }))}
      />
      <Ranking title="Most booked pages" rows={topBookingPages.map(({ title, count }) => ({ name: title, count }))} />
      <Ranking
        title="Most joined rooms"
        rows={topRooms.map(({ name, display_name, count }) => ({ name: display_name ?? name, count }))}
      />
    </div>
  );
}

function Activity({ activityTimeline }: Pick<Analytics, 'activityTimeline'>) {
  const days = lastDays(activityTimeline, { bookings: 0, room_joins: 0 });
  const bookings = formatNumber(sum(days.map((day) => day.bookings)));
  const joins = formatNumber(sum(days.map((day) => day.room_joins)));
  return (
    <ChartTable
      title="Bookings and room joins"
      summary={`In the last 30 days: bookings ${bookings}, room joins ${joins}. The table lists every day.`}
      chart={
        <Timeline
          days={days.map((day) => ({ label: formatDay(day.date), values: [day.bookings, day.room_joins] }))}
          series={['Bookings', 'Room joins']}
        />
      }
      rows={days}
      keyOf={({ date }) => date}
      columns={[
        { heading: 'Day', cell: ({ date }) => formatDay(date) },
        { heading: 'Bookings', isNumber: true, cell: (day) => formatNumber(day.bookings) },
        { heading: 'Room joins', isNumber: true, cell: (day) => formatNumber(day.room_joins) },
      ]}
    />
  );
}

function NewContacts({ newContactsTimeline }: Pick<Analytics, 'newContactsTimeline'>) {
  const days = lastDays(newContactsTimeline, { count: 0 });
  const total = formatNumber(sum(days.map(({ count }) => count)));
  return (
    <ChartTable
      title="New contacts"
      summary={`In the last 30 days: new contacts ${total}. The table lists every day.`}
      chart={
        <Timeline
          days={days.map(({ date, count }) => ({ label: formatDay(date), values: [count] }))}
          series={['New contacts']}
        />
      }
      rows={days}
      keyOf={({ date }) => date}
      columns={[
        { heading: 'Day', cell: ({ date }) => formatDay(date) },
        { heading: 'New contacts', isNumber: true, cell: ({ count }) => formatNumber(count) },
      ]}
    />
  );
}

/** Counts by name, the largest first. Names are not unique. */
function Ranking({ title, rows }: { title: string; rows: readonly { name: string; count: number }[] }) {
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
        { heading: 'Count', isNumber: true, cell: ({ count }) => formatNumber(count) },
      ]}
    />
  );
}

function formatDay(date: string): string {
  return dayFormat.format(Date.parse(date));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
