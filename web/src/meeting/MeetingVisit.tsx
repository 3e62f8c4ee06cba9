/** A visit to a room whose meeting the page carries, from browser to browser or by LiveKit: lobby, waiting, meeting, and what comes after. */
import { useQuery } from '@tanstack/react-query';
import { SkeletonRows } from '../components/Skeleton.tsx';
import { account, trpc } from '../lib/client.ts';
import { LiveMeeting } from './LiveMeeting.tsx';
import { Lobby } from './Lobby.tsx';
import { PageFrame } from './PageFrame.tsx';
import { ProviderVisit } from './ProviderVisit.tsx';
import { RecorderOutbox } from './recorder/index.ts';
import { Elsewhere, Ended, Full } from './StatusPages.tsx';
import type { Room } from './types.ts';
import { useHostPage } from './use-host-page.ts';
import { useLocalMedia } from './use-local-media.ts';
import { useVisit } from './use-visit.ts';
import { Waiting } from './Waiting.tsx';

/** Until they have joined, people see that a recording begins, or that the room is locked or full. */
const LOBBY_POLL_MS = 10_000;

type MeetingVisitProps = {
  room: Room;
  /** Reads the room again. */
  onReload: () => void;
};

export function MeetingVisit(props: MeetingVisitProps) {
  return (
    <>
      <VisitPages {...props} />
      <RecorderOutbox />
    </>
  );
}

function VisitPages({ room, onReload }: MeetingVisitProps) {
  const { media, state } = useLocalMedia();
  const visit = useVisit(room, media, state);
  useHostPage(visit, media);
  const isPolling = visit.isBefore && visit.end === null;
  useQuery({
    ...trpc.rooms.readPublic.queryOptions({ roomName: room.name }),
    refetchInterval: isPolling && LOBBY_POLL_MS,
    refetchIntervalInBackground: true,
  });
  const { meeting, snapshot } = visit;
  const title = room.display_name ?? room.name;

  function joinAgain(): void {
    visit.joinAgain();
    onReload();
  }

  // The form depends on who is signed in: if it appeared later, what is below it would move.
  const me = useQuery(account);

  if (visit.isRestoring || me.isPending) {
    return (
      <PageFrame title={title} color={room.accent_color} branding={room.branding}>
        <SkeletonRows count={2} />
      </PageFrame>
    );
  }
  if (visit.end !== null) {
    return <Ended room={room} reason={visit.end.reason} error={visit.end.error} onJoinAgain={joinAgain} />;
  }
  if (meeting === null || snapshot === null || snapshot.state === 'idle' || snapshot.state === 'joining') {
    const isPending = snapshot?.state === 'joining';
    return (
      <Lobby room={room} media={media} state={state} isPending={isPending} error={visit.error} onJoin={visit.join} />
    );
  }
  switch (snapshot.state) {
    case 'waiting':
      return (
        <Waiting room={room} media={media} state={state} participant={snapshot.participant} onLeave={visit.leave} />
      );
    case 'full':
      return <Full room={room} media={snapshot.media} onLeave={visit.leave} />;
    case 'elsewhere':
      return <Elsewhere room={room} onComeBack={visit.comeBack} />;
    default:
      // The workspace has got a meeting provider since the page was opened.
      if (snapshot.media?.kind === 'none') return <ProviderVisit room={room} onReload={onReload} />;
      return (
        <LiveMeeting
          room={room}
          meeting={meeting}
          snapshot={snapshot}
          media={media}
          state={state}
          wasTold={visit.wasTold}
          onLeave={visit.leave}
        />
      );
  }
}
