import { Disc, LoaderCircle, MicOff } from 'lucide-react';
import { useTexts } from '../languages/texts.ts';
import { toInitials, toneOf } from './initials.ts';
import { TrackVideo } from './TrackVideo.tsx';
import type { Box } from './tile-layout.ts';

export type TilePerson = {
  id: number;
  /** As the tile shows it, such as "Ada Lovelace (you)". */
  label: string;
  name: string;
  camera: MediaStreamTrack | null;
  isOwn: boolean;
  isMuted: boolean;
  isSpeaking: boolean;
  isRecording: boolean;
  /** What is wrong with the connection, such as "Reconnecting"; null if all is well. */
  problem: string | null;
};

/** One person: the picture of their camera or their initials, with their name and what there is to know. */
export function Tile({ person, box }: { person: TilePerson; box: Box }) {
  const { label, name, camera, isOwn, isMuted, isSpeaking, isRecording, problem } = person;
  const { write } = useTexts();
  const isSmall = box.height < 110;
  return (
    <li
      data-participant={person.id}
      data-speaking={isSpeaking || undefined}
      className="absolute overflow-hidden rounded-xl bg-tile shadow-sm transition-[left,top,width,height] duration-200"
      style={{ left: box.x, top: box.y, width: box.width, height: box.height }}
    >
      {camera === null ? (
        <Initials id={person.id} name={name} size={Math.min(box.width, box.height)} />
      ) : (
        <TrackVideo track={camera} isMirrored={isOwn} />
      )}
      {problem !== null && (
        <p
          title={problem}
          className={`absolute start-1.5 top-1.5 flex max-w-[calc(100%-0.75rem)] items-center gap-1.5 rounded-md bg-black/75 px-2 font-medium text-white ${isSmall ? 'text-xs' : 'py-0.5 text-sm'}`}
        >
          <LoaderCircle aria-hidden size={isSmall ? 12 : 15} className="shrink-0 animate-spin" />
          <span className="truncate">{problem}</span>
        </p>
      )}
      <div
        title={label}
        className={`absolute start-1.5 bottom-1.5 flex max-w-[calc(100%-0.75rem)] items-center gap-1.5 rounded-md bg-black/75 px-2 font-medium text-white ${isSmall ? 'py-0 text-xs' : 'py-0.5 text-sm'}`}
      >
        {/* First, so that the icons that come and go move nothing. */}
        <span className="truncate">{label}</span>
        {isMuted && (
          <MicOff
            role="img"
            aria-label={write('meeting.muted')}
            size={isSmall ? 12 : 15}
            className="shrink-0 text-red-300"
          />
        )}
        {isRecording && (
          <Disc role="img" aria-label={write('meeting.records')} size={15} className="shrink-0 text-red-300" />
        )}
      </div>
      {/* Above the picture, which an outline of the tile itself would be below. */}
      <span
        aria-hidden
        className={`pointer-events-none absolute inset-0 rounded-xl border-[3px] transition-colors ${isSpeaking ? 'border-speaker' : 'border-transparent'}`}
      />
    </li>
  );
}

function Initials({ id, name, size }: { id: number; name: string; size: number }) {
  const diameter = Math.max(28, Math.min(160, Math.round(size * 0.45)));
  return (
    <span aria-hidden className="absolute inset-0 flex items-center justify-center">
      <span
        className={`flex items-center justify-center rounded-full font-semibold select-none ${toneOf(id)}`}
        style={{ width: diameter, height: diameter, fontSize: Math.round(diameter * 0.4) }}
      >
        {toInitials(name)}
      </span>
    </span>
  );
}
