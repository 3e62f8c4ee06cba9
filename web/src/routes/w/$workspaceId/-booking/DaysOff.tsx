import { X } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { controlClass, FieldGroup } from '../../../../components/Form.tsx';

type DaysOffProps = { dates: readonly string[]; onChange: (dates: readonly string[]) => void };

const shown = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' });

/** The dates on which the page is closed. */
export function DaysOff({ dates, onChange }: DaysOffProps) {
  const [date, setDate] = useState('');

  function add(): void {
    if (date === '') return;
    onChange([...new Set([...dates, date])].toSorted());
    setDate('');
  }

  return (
    <FieldGroup name="days_off" label="Days off" hint="Nobody can book on these dates.">
      <div className="flex flex-wrap gap-2">
        <input
          type="date"
          aria-label="Date"
          value={date}
          onChange={({ target }) => setDate(target.value)}
          className={`h-10 max-w-44 ${controlClass}`}
        />
        <Button onClick={add}>Add the day</Button>
      </div>
      {dates.length > 0 && (
        <ul aria-label="Days off" className="m-0 flex list-none flex-wrap gap-2 p-0">
          {dates.map((one) => (
            <li key={one} className="flex items-center rounded-lg border border-line pl-3">
              <time dateTime={one}>{formatDay(one)}</time>
              <IconButton
                label={`Remove ${formatDay(one)}`}
                icon={<X aria-hidden size={16} />}
                onClick={() => onChange(dates.filter((other) => other !== one))}
              />
            </li>
          ))}
        </ul>
      )}
    </FieldGroup>
  );
}

function formatDay(date: string): string {
  return shown.format(new Date(`${date}T00:00:00Z`));
}
