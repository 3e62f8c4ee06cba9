import { CalendarPlus } from 'lucide-react';
import { buttonClass } from '../../components/Button.tsx';
import { useTexts } from '../../languages/texts.ts';
import { saveFile } from '../../lib/save-file.ts';
import { type Meeting, toCalendarFile, toCalendarLinks } from './calendar-entry.ts';

/** A file for the calendar program, and links to calendars on the web. */
export function AddToCalendar({ meeting }: { meeting: Meeting }) {
  const { write } = useTexts();
  return (
    <section aria-label={write('book.addToCalendar')} className="flex flex-col items-start gap-2">
      <button
        type="button"
        className={buttonClass('secondary')}
        onClick={() => saveFile(new Blob([toCalendarFile(meeting)], { type: 'text/calendar' }), 'meeting.ics')}
      >
        <CalendarPlus aria-hidden size={16} />
        {write('book.addToCalendar')}
      </button>
      <p className="flex flex-wrap gap-x-3 text-sm">
        {write('book.orOpenIn')}
        {toCalendarLinks(meeting).map(({ label, href }) => (
          <a key={label} href={href} target="_blank" rel="noreferrer" className="link">
            {label}
          </a>
        ))}
      </p>
    </section>
  );
}
