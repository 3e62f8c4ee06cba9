import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../components/Button.tsx';
import { Combobox } from '../../components/Combobox.tsx';
import { ErrorPanel } from '../../components/ErrorPanel.tsx';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { useTexts } from '../../languages/texts.ts';
import { client, trpc } from '../../lib/client.ts';
import { nowSeconds } from '../../lib/clock.ts';
import { timeZones } from '../../lib/format.ts';
import { MonthCalendar } from './MonthCalendar.tsx';
import {
  daysOfCalendar,
  findFirstWeekday,
  formatClock,
  formatDay,
  formatMonth,
  toDay,
  toMonth,
  toRange,
} from './month.ts';

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

/** The free times of a booking page: a month, and the times of one day of it, in the zone of the visitor. */
export function TimePicker({ slug, token, zone, onZone, value, onChange }: TimePickerProps) {
  const { write, locale } = useTexts();
  const [chosenMonth, setMonth] = useState<string | null>(null);
  const [chosenDay, setDay] = useState<string | null>(null);
  // The calendar begins where the next free times are.
  const next = useTimes({ slug }, token, true);
  const thisMonth = toMonth(toDay(nowSeconds(), zone));
  const month = chosenMonth ?? toMonth(toDay(next.data?.times[0] ?? nowSeconds(), zone));
  const days = daysOfCalendar(month, findFirstWeekday(locale));
  const times = useTimes({ slug, ...toRange(days) }, token, next.isSuccess);
  if (next.isPending) return <SkeletonRows count={7} />;
  const failed = next.isError ? next : times;
  if (failed.isError) {
    return <ErrorPanel what={write('book.timesNotLoaded')} error={failed.error} onRetry={() => failed.refetch()} />;
  }
  // What is known already is shown while the month is loaded.
  const byDay = groupByDay(times.data?.times ?? next.data?.times ?? [], zone);
  const free = new Set(days.filter((day) => byDay.has(day)));
  const first = [...free].find((day) => toMonth(day) === month) ?? [...free][0] ?? null;
  const day = chosenDay !== null && free.has(chosenDay) ? chosenDay : first;

  return (
    <div className="@container print:hidden">
      <div className="grid gap-6 @lg:grid-cols-[minmax(0,1fr)_10rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <MonthCalendar
            month={month}
            days={days}
            free={free}
            value={day}
            onChange={(chosen) => {
              setDay(chosen);
              onChange(null);
            }}
            hasEarlier={month > thisMonth}
            onMonth={(chosen) => {
              setMonth(chosen);
              setDay(null);
              onChange(null);
            }}
          />
          <Combobox
            label={write('mail.timeZone')}
            options={timeZones}
            value={zone}
            onChange={(chosen) => {
              if (chosen === null) return;
              // The month and the day that are shown stay the same in another zone.
              setMonth(month);
              setDay(day);
              onZone(chosen);
            }}
          />
        </div>
        <div className="flex min-w-0 flex-col gap-2">
          <p className="min-h-12 text-sm font-medium" aria-live="polite">
            {day !== null && formatDay(day, locale)}
            {day === null && !times.isPlaceholderData && write('book.noTimes', { month: formatMonth(month, locale) })}
          </p>
          {day !== null && (
            <fieldset
              aria-label={write('book.time')}
              className="grid min-w-0 grid-cols-[repeat(auto-fill,minmax(5.5rem,1fr))] content-start gap-2 p-1 @lg:grid-cols-1"
            >
              {(byDay.get(day) ?? []).map((at) => (
                <Button
                  key={at}
                  aria-pressed={at === value}
                  tone={at === value ? 'primary' : 'secondary'}
                  onClick={() => onChange(at)}
                >
                  {formatClock(at, zone, locale)}
                </Button>
              ))}
            </fieldset>
          )}
        </div>
      </div>
    </div>
  );
}

type TimesInput = { slug: string; from?: number; to?: number };

function useTimes(input: TimesInput, token: string | undefined, enabled: boolean) {
  return useQuery({
    queryKey: [...trpc.bookings.times.queryKey(input), ...(token === undefined ? [] : [token])],
    queryFn: () =>
      token === undefined
        ? client.bookings.times.query(input)
        : client.bookings.timesToMove.mutate({ ...input, token }),
    placeholderData: keepPreviousData,
    enabled,
  });
}

function groupByDay(times: readonly number[], zone: string): ReadonlyMap<string, number[]> {
  const days = new Map<string, number[]>();
  for (const at of times) {
    const day = toDay(at, zone);
    days.set(day, [...(days.get(day) ?? []), at]);
  }
  return days;
}
