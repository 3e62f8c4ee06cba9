import { CalendarPlus } from 'lucide-react';
import { buttonClass } from '../../components/Button.tsx';
import { saveFile } from '../../lib/save-file.ts';
import { type Meeting, toCalendarFile, toCalendarLinks } from './calendar-entry.ts';

/** A file for the calendar program, and links to calendars on the web. */
export function AddToCalendar({ meeting }: { meeting: Meeting }) {
  return (
    <section aria-label="Add to calendar" className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <button
        type="button"
        className={buttonClass('secondary')}
        onClick={() => saveFile(new Blob([toCalendarFile(meeting)], { type: 'text/calendar' }), 'meeting.ics')}
      >
        <CalendarPlus aria-hidden size={16} />
        Add to calendar
      </button>
      {toCalendarLinks(meeting).map(({ label, href }) => (
        <a key={label} href={href} target="_blank" rel="noreferrer" className="link">
          {label}
        </a>
      ))}
    </section>
  );
}
