import { Dialog } from '../../../../components/Dialog.tsx';
import { VideoPlayer } from '../../../../components/VideoPlayer.tsx';
import { type Recording, toTitle } from './recording-states.ts';

type PlayDialogProps = {
  recording: Pick<Recording, 'id' | 'title' | 'poster_url'>;
  /** The address of the download. */
  src: string;
  onClose: () => void;
};

/** Plays a recording. */
export function PlayDialog({ recording, src, onClose }: PlayDialogProps) {
  return (
    <Dialog isWide onClose={onClose} title={toTitle(recording)}>
      <VideoPlayer
        src={src}
        posterUrl={recording.poster_url}
        label={`Video ${toTitle(recording)}`}
        className="aspect-video max-h-[60dvh] w-full rounded-lg bg-black"
      />
    </Dialog>
  );
}
