import { CalendarPlus } from 'lucide-react';
import { buttonClass } from '../../components/Button.tsx';
import { saveFile } from '../../lib/save-file.ts';
import { type Meeting, toCalendarFile, toCalendarLinks } from './calendar-entry.ts';

/** A file for the calendar program, and links to calendars on the web. */
export function AddToCalendar({ meeting }: { meeting: Meeting }) {
  return (
    <section aria-label="Add to calendar" className="flex flex-col items-start gap-2">
      <button
        type="button"
        className={buttonClass('secondary')}
        onClick={() => saveFile(new Blob([toCalendarFile(meeting)], { type: 'text/calendar' }), 'meeting.ics')}
      >
        <CalendarPlus aria-hidden size={16} />
        Add to calendar
      </button>
      <p className="flex flex-wrap gap-x-3 text-sm">
        Or open it in
        {toCalendarLinks(meeting).map(({ label, href }) => (
          <a key={label} href={href} target="_blank" rel="noreferrer" className="link">
            {label}
          </a>
        ))}
      </p>
    </section>
  );
}
