import { ChevronLeft, ChevronRight } from 'lucide-react';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { IconButton } from '../../components/Button.tsx';
import { useTexts } from '../../languages/texts.ts';
import { addDays, addMonths, formatDate, formatDay, formatMonth, formatWeekday, toMonth } from './month.ts';

type MonthCalendarProps = {
  month: string;
  /** The days of the calendar, see `daysOfCalendar`. */
  days: readonly string[];
  /** The days that can be chosen. */
  free: ReadonlySet<string>;
  value: string | null;
  onChange: (day: string) => void;
  onMonth: (month: string) => void;
  hasEarlier: boolean;
};

/**
 * The weeks around a month. The arrow keys go from one free day to another, and Page Up and Page Down to another month.
 */
export function MonthCalendar({ month, days, free, value, onChange, onMonth, hasEarlier }: MonthCalendarProps) {
  const { write, locale } = useTexts();
  const group = useRef<HTMLFieldSetElement>(null);
  const goesOnByKey = useRef(false);

  // Another month removes the button that had the focus.
  useEffect(() => {
    const { activeElement } = document;
    const isHere = activeElement === document.body || group.current?.contains(activeElement);
    if (goesOnByKey.current && value !== null && isHere) focusDay(group.current, value);
  }, [value]);

  function choose(day: string | undefined): void {
    if (day === undefined) return;
    onChange(day);
    focusDay(group.current, day);
  }

  function press(event: KeyboardEvent): void {
    if (value === null) return;
    const isRightToLeft = getComputedStyle(event.currentTarget).direction === 'rtl';
    const step = findStep(event.key, isRightToLeft);
    if (step !== undefined) {
      event.preventDefault();
      choose(findFree(days, free, value, step));
    }
    if (event.key === 'PageDown' || (event.key === 'PageUp' && hasEarlier)) {
      event.preventDefault();
      goesOnByKey.current = true;
      onMonth(addMonths(month, event.key === 'PageDown' ? 1 : -1));
    }
  }

  return (
    <div className="flex flex-col gap-2">
      <div className="flex items-center gap-1">
        <p aria-live="polite" className="grow font-semibold">
          {formatMonth(month, locale)}
        </p>
        <IconButton
          label={write('book.earlier')}
          icon={<ChevronLeft aria-hidden size={18} className="rtl:rotate-180" />}
          disabled={!hasEarlier}
          onClick={() => onMonth(addMonths(month, -1))}
        />
        <IconButton
          label={write('book.later')}
          icon={<ChevronRight aria-hidden size={18} className="rtl:rotate-180" />}
          onClick={() => onMonth(addMonths(month, 1))}
        />
      </div>
      <fieldset ref={group} aria-label={write('book.day')} className="grid min-w-0 grid-cols-7 gap-1 text-center">
        {days.slice(0, 7).map((day) => (
          <span key={day} aria-hidden className="py-1 text-sm text-muted">
            {formatWeekday(day, locale)}
          </span>
        ))}
        {days.map((day) =>
          free.has(day) ? (
            <button
              key={day}
              type="button"
              data-day={day}
              aria-label={formatDay(day, locale)}
              aria-pressed={day === value}
              // One stop of the Tab key for all days.
              tabIndex={day === value ? 0 : -1}
              onClick={() => onChange(day)}
              onKeyDown={press}
              className={`h-10 rounded-lg font-medium transition-colors ${
                day === value ? 'bg-accent text-on-accent hover:bg-accent-hover' : 'bg-accent-soft text-accent-text'
              }`}
            >
              {formatDate(day, locale)}
            </button>
          ) : (
            <span key={day} className="flex h-10 items-center justify-center text-muted">
              {toMonth(day) === month && formatDate(day, locale)}
            </span>
          ),
        )}
      </fieldset>
    </div>
  );
}

function focusDay(group: HTMLElement | null, day: string): void {
  group?.querySelector<HTMLElement>(`[data-day="${day}"]`)?.focus();
}

/** How many days a key goes on. */
function findStep(key: string, isRightToLeft: boolean): number | undefined {
  if (key === 'ArrowUp') return -7;
  if (key === 'ArrowDown') return 7;
  if (key === 'ArrowLeft') return isRightToLeft ? 1 : -1;
  if (key === 'ArrowRight') return isRightToLeft ? -1 : 1;
  return undefined;
}

/** The free day that is at least `step` days away, and the nearest of those. */
function findFree(days: readonly string[], free: ReadonlySet<string>, day: string, step: number): string | undefined {
  const next = addDays(day, step);
  return step > 0
    ? days.find((other) => other >= next && free.has(other))
    : days.findLast((other) => other <= next && free.has(other));
}
