import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { Combobox } from '../../components/Combobox.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { ErrorPanel } from '../../components/ErrorPanel.tsx';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { client, trpc } from '../../lib/client.ts';
import { nowSeconds } from '../../lib/clock.ts';
import { timeZones } from '../../lib/format.ts';

const DAY = 86_400;
const DAYS_SHOWN = 28;

type TimePickerProps = {
  slug: string;
  /** The token of a booking that is to be moved, whose own time is then free. */
  token?: string;
  zone: string;
  onZone: (zone: string) => void;
  /** Unix seconds. */
  value: number | null;
  onChange: (startsAt: number | null) => void;
};

/** The free times of a booking page, by day, in the zone of the visitor. */
export function TimePicker({ slug, token, zone, onZone, value, onChange }: TimePickerProps) {
  const [from, setFrom] = useState<number | undefined>(undefined);
  const [day, setDay] = useState<string | null>(null);
  const start = from ?? 0;
  const input = { slug, ...(from !== undefined && { from, to: from + DAYS_SHOWN * DAY }) };
  const times = useQuery({
    queryKey: [...trpc.bookings.times.queryKey(input), ...(token === undefined ? [] : [token])],
    queryFn: () =>
      token === undefined
        ? client.bookings.times.query(input)
        : client.bookings.timesToMove.mutate({ ...input, token }),
    placeholderData: keepPreviousData,
  });
  if (times.isPending) return <SkeletonRows count={4} />;
  if (times.isError) {
    return <ErrorPanel what="The free times could not be loaded" error={times.error} onRetry={() => times.refetch()} />;
  }
  const days = groupByDay(times.data.times, zone);
  const shown = days.get(day ?? '') ?? [...days.values()][0] ?? [];
  const shownDay = toDay(shown[0] ?? 0, zone);

  function move(next: number | undefined): void {
    setFrom(next);
    setDay(null);
    onChange(null);
  }

  const now = Math.floor(nowSeconds());
  return (
    <div className="flex flex-col gap-4">
      <Combobox
        label="Time zone"
        options={timeZones}
        value={zone}
        onChange={(next) => {
          if (next === null) return;
          // The day that is shown stays the same in another zone.
          setDay(shownDay);
          onZone(next);
        }}
      />
      {days.size === 0 ? (
        <EmptyState title="No free times in these weeks">Look at later dates.</EmptyState>
      ) : (
        <>
          <fieldset className="flex flex-wrap gap-2">
            <legend className="mb-1 font-medium">Day</legend>
            {[...days.keys()].map((name) => (
              <Button
                key={name}
                size="small"
                aria-pressed={name === shownDay}
                tone={name === shownDay ? 'primary' : 'secondary'}
                onClick={() => {
                  setDay(name);
                  onChange(null);
                }}
              >
                {formatDay(days.get(name)?.[0] ?? 0, zone)}
              </Button>
            ))}
          </fieldset>
          <fieldset className="flex flex-wrap gap-2">
            <legend className="mb-1 font-medium">Time</legend>
            {shown.map((at) => (
              <Button
                key={at}
                size="small"
                aria-pressed={at === value}
                tone={at === value ? 'primary' : 'secondary'}
                onClick={() => onChange(at)}
              >
                {formatClock(at, zone)}
              </Button>
            ))}
          </fieldset>
        </>
      )}
      <div className="flex flex-wrap gap-2">
        {from !== undefined && (
          <Button
            size="small"
            onClick={() => move(start - DAYS_SHOWN * DAY > now ? start - DAYS_SHOWN * DAY : undefined)}
          >
            Earlier dates
          </Button>
        )}
        <Button size="small" onClick={() => move((from ?? now) + (from === undefined ? 14 : DAYS_SHOWN) * DAY)}>
          Later dates
        </Button>
      </div>
    </div>
  );
}

/** `Monday 23 November 2026, 10:00`, with the name of the zone. */
export function formatMeeting(at: number, zone: string): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'short', timeZone: zone }).format(
    at * 1000,
  );
}

function formatClock(at: number, zone: string): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle: 'short', timeZone: zone }).format(at * 1000);
}

function formatDay(at: number, zone: string): string {
  const options = { weekday: 'short', day: 'numeric', month: 'short', timeZone: zone } as const;
  return new Intl.DateTimeFormat(undefined, options).format(at * 1000);
}

function toDay(at: number, zone: string): string {
  return new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: zone }).format(at * 1000);
}

function groupByDay(times: readonly number[], zone: string): ReadonlyMap<string, number[]> {
  const days = new Map<string, number[]>();
  for (const at of times) {
    const day = toDay(at, zone);
    days.set(day, [...(days.get(day) ?? []), at]);
  }
  return days;
}
