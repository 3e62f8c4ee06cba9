import { Copy, Plus, X } from 'lucide-react';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { controlClass, FieldGroup } from '../../../../components/Form.tsx';
import { type Day, days, findProblem, makeWeek, nextPeriod, type Period, toPeriod, type Week } from './hours.ts';

/** The opening hours of each day of the week. */
export function HoursEditor({ week, onChange }: { week: Week; onChange: (week: Week) => void }) {
  /** Gives every other open day the same hours. */
  function copy(from: Day): void {
    const copyTo = (day: Day): readonly Period[] =>
      day === from || week[day].length === 0 ? week[day] : week[from].map((period) => toPeriod(period.from, period.to));
    onChange(makeWeek(copyTo));
  }

  return (
    <FieldGroup name="hours" label="Opening hours" hint="In the time zone of the page. 00:00 as the end is midnight.">
      <ul className="m-0 flex list-none flex-col p-0">
        {days.map(({ day, label }) => (
          <DayRow
            key={day}
            label={label}
            periods={week[day]}
            onChange={(periods) => onChange({ ...week, [day]: periods })}
            onCopy={() => copy(day)}
          />
        ))}
      </ul>
    </FieldGroup>
  );
}

type DayRowProps = {
  label: string;
  periods: readonly Period[];
  onChange: (periods: readonly Period[]) => void;
  onCopy: () => void;
};

function DayRow({ label, periods, onChange, onCopy }: DayRowProps) {
  const isOpen = periods.length > 0;
  const problem = findProblem(periods);

  function change(key: number, part: Partial<Period>): void {
    onChange(periods.map((period) => (period.key === key ? { ...period, ...part } : period)));
  }

  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 border-t border-line py-3 first:border-t-0">
      <label className="flex h-10 w-32 items-center gap-2">
        <input
          type="checkbox"
          checked={isOpen}
          onChange={() => onChange(isOpen ? [] : [nextPeriod([])])}
          className="size-4 accent-accent"
        />
        {label}
      </label>
      <div className="flex min-w-0 flex-col gap-2">
        {!isOpen && <p className="flex h-10 items-center text-muted">Closed</p>}
        {periods.map(({ key, from, to }, index) => {
          const name = periods.length === 1 ? label : `${label}, period ${index + 1}`;
          return (
            <div key={key} className="flex items-center gap-2">
              <TimeInput label={`${name}: from`} value={from} onChange={(value) => change(key, { from: value })} />
              <span aria-hidden>–</span>
              <TimeInput label={`${name}: to`} value={to} onChange={(value) => change(key, { to: value })} />
              <IconButton
                label={`Remove ${name}`}
                icon={<X aria-hidden size={16} />}
                onClick={() => onChange(periods.filter((period) => period.key !== key))}
              />
            </div>
          );
        })}
        {problem !== null && (
          <p role="alert" className="text-sm text-danger-text">
            {problem}
          </p>
        )}
      </div>
      {isOpen && (
        <div className="flex gap-1 sm:ml-auto">
          <Button
            tone="quiet"
            icon={<Plus aria-hidden size={16} />}
            aria-label={`Add a period on ${label}`}
            onClick={() => onChange([...periods, nextPeriod(periods)])}
          >
            Add
          </Button>
          <IconButton label={`Copy ${label} to all open days`} icon={<Copy aria-hidden size={16} />} onClick={onCopy} />
        </div>
      )}
    </li>
  );
}

function TimeInput({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  return (
    <input
      type="time"
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      className={`h-10 max-w-36 ${controlClass}`}
    />
  );
}
