import { Disc } from 'lucide-react';
import { useTexts } from '../languages/texts.ts';
import { sayRecorded } from './recording-texts.ts';

type RecordingNoticeProps = { name: string | null; whoWillSee?: string; isBar?: boolean };

/** Says that the meeting is being recorded, for as long as it is. */
export function RecordingNotice({ name, whoWillSee, isBar = false }: RecordingNoticeProps) {
  const { write } = useTexts();
  return (
    <div
      role="status"
      className={`flex items-start gap-2 bg-danger-soft text-danger-text ${isBar ? 'justify-center px-3 py-1 text-sm' : 'rounded-lg px-3 py-2'}`}
    >
      <Disc aria-hidden size={18} className="mt-0.5 shrink-0" />
      <div>
        <p className="font-medium">{sayRecorded(write, name)}</p>
        {whoWillSee !== undefined && <p className="text-sm">{whoWillSee}</p>}
      </div>
    </div>
  );
}
