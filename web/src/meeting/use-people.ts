import type { MeetingSnapshot, Peer } from '@lynxroom/client/meeting';
import type { WriteText } from '../../../src/languages/catalogue.ts';
import { useTexts } from '../languages/texts.ts';
import type { LocalMediaState } from './local-media.ts';
import type { TilePerson } from './Tile.tsx';
import { useIsLoud } from './use-is-loud.ts';

/** The people who have a tile: this person first, then the others whose page is connected, or is about to be. */
export function usePeople(snapshot: MeetingSnapshot, { tracks, isOn }: LocalMediaState): TilePerson[] {
  const { participant, peers, recording } = snapshot;
  const { write } = useTexts();
  const isLoud = useIsLoud(isOn.microphone ? tracks.microphone : null);
  const own: TilePerson[] =
    participant === null
      ? []
      : [
          {
            id: participant.id,
            label: write('meeting.you', { name: participant.name }),
            name: participant.name,
            camera: tracks.camera,
            isOwn: true,
            isMuted: !isOn.microphone,
            isSpeaking: isLoud,
            isRecording: recording?.participant_id === participant.id,
            problem: null,
          },
        ];
  // Somebody without a page has no picture and no sound: a tile would be a ghost.
  return [...own, ...peers.filter(({ state }) => state !== 'away').map((peer) => toPerson(write, peer))];
}

function toPerson(write: WriteText, peer: Peer): TilePerson {
  const { id, name, camera, hasCamera, hasMicrophone, isSpeaking, isRecording } = peer;
  return {
    id,
    name,
    label: name,
    isOwn: false,
    isRecording,
    camera: hasCamera && !peer.isCameraPaused ? camera : null,
    isMuted: !hasMicrophone,
    isSpeaking: isSpeaking && hasMicrophone,
    problem: describeProblem(write, peer),
  };
}

function describeProblem(write: WriteText, { state, isCameraPaused }: Peer): string | null {
  if (state === 'connecting') return write('meeting.connecting');
  if (state === 'reconnecting') return write('meeting.reconnecting');
  return isCameraPaused ? write('meeting.tooSlow') : null;
}
