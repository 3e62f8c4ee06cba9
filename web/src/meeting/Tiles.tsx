import { MonitorUp } from 'lucide-react';
import { useRef } from 'react';
import { Button } from '../components/Button.tsx';
import { useTexts } from '../languages/texts.ts';
import { Tile, type TilePerson } from './Tile.tsx';
import { TrackVideo } from './TrackVideo.tsx';
import { layOutTiles } from './tile-layout.ts';
import { useSize } from './use-size.ts';

export type SharedScreen = { participantId: number; name: string; track: MediaStreamTrack };

type TilesProps = {
  people: readonly TilePerson[];
  screen: SharedScreen | null;
};

/** All people of the meeting, and a shared screen beside them. They fill what space there is. */
export function Tiles({ people, screen }: TilesProps) {
  const { write } = useTexts();
  const area = useRef<HTMLDivElement>(null);
  const size = useSize(area);
  const { stage, tiles } = layOutTiles(size, people.length, screen !== null);
  return (
    <div ref={area} className="absolute inset-2 sm:inset-3">
      {screen !== null && stage !== null && (
        <figure
          aria-label={write('meeting.screenOf', { name: screen.name })}
          data-screen-of={screen.participantId}
          className="absolute m-0 overflow-hidden rounded-xl bg-black"
          style={{ left: stage.x, top: stage.y, width: stage.width, height: stage.height }}
        >
          <TrackVideo track={screen.track} isWhole />
          <figcaption
            title={write('meeting.screenOf', { name: screen.name })}
            className="absolute start-1.5 bottom-1.5 flex max-w-[calc(100%-0.75rem)] items-center gap-1.5 rounded-md bg-black/75 px-2 py-0.5 text-sm font-medium text-white"
          >
            <MonitorUp aria-hidden size={15} className="shrink-0" />
            <span className="truncate">{write('meeting.screenOf', { name: screen.name })}</span>
          </figcaption>
        </figure>
      )}
      {size.width > 0 && (
        <ul aria-label={write('meeting.inMeeting')}>
          {people.map((person, index) => {
            const box = tiles[index];
            return box && <Tile key={person.id} person={person} box={box} />;
          })}
        </ul>
      )}
    </div>
  );
}

type ScreenChoiceProps = { screens: readonly SharedScreen[]; onChoose: (participantId: number) => void };

/** Shows another screen, if several people share theirs. The first one is shown now. */
export function ScreenChoice({ screens: [_shown, ...others], onChoose }: ScreenChoiceProps) {
  const { write } = useTexts();
  return (
    others.length > 0 && (
      <div className="absolute end-4 bottom-4 z-10 flex flex-wrap justify-end gap-2">
        {others.map(({ participantId, name }) => (
          <Button key={participantId} size="small" onClick={() => onChoose(participantId)}>
            {write('meeting.showScreenOf', { name })}
          </Button>
        ))}
      </div>
    )
  );
}
