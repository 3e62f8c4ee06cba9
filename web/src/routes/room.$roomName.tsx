/** A meeting room, for everybody who has its link. */
import { useQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { lazy, Suspense, useEffect } from 'react';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { SkeletonRows } from '../components/Skeleton.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { GuestLanguage } from '../languages/GuestLanguage.tsx';
import { LanguagePicker } from '../languages/LanguagePicker.tsx';
import { useTexts } from '../languages/texts.ts';
import { trpc } from '../lib/client.ts';

// Loaded together with the room, not after it.
const loading = {
  meeting: import('../meeting/MeetingVisit.tsx'),
  provider: () => import('../meeting/ProviderVisit.tsx'),
};
const MeetingVisit = lazy(() => loading.meeting.then((parts) => ({ default: parts.MeetingVisit })));
const ProviderVisit = lazy(() => loading.provider().then((parts) => ({ default: parts.ProviderVisit })));

export const Route = createFileRoute('/room/$roomName')({ component: RoomPage });

function RoomPage() {
  const { roomName } = Route.useParams();
  const isOwn = useOwnDocument();
  const room = useQuery({ ...trpc.rooms.readPublic.queryOptions({ roomName }), enabled: isOwn });
  if (room.data !== undefined) {
    const Visit = room.data.room.media === 'none' ? ProviderVisit : MeetingVisit;
    const loading = <Loading title={room.data.room.display_name ?? roomName} />;
    return (
      <GuestLanguage ofWorkspace={null} fallback={loading}>
        <Suspense fallback={loading}>
          <Visit key={room.data.room.name} room={room.data.room} onReload={() => room.refetch()} />
        </Suspense>
      </GuestLanguage>
    );
  }
  if (!room.isError) return <Loading title={roomName} />;
  return (
    <GuestLanguage ofWorkspace={null} fallback={<Loading title={roomName} />}>
      <NotOpened title={roomName} error={room.error} onRetry={() => room.refetch()} />
    </GuestLanguage>
  );
}

function NotOpened({ title, error, onRetry }: { title: string; error: unknown; onRetry: () => void }) {
  const { write } = useTexts();
  return (
    <SignInFrame title={title}>
      <ErrorPanel what={write('room.notOpened')} error={error} onRetry={onRetry} />
      <LanguagePicker />
    </SignInFrame>
  );
}

function Loading({ title }: { title: string }) {
  return (
    <SignInFrame title={title}>
      <SkeletonRows count={2} />
    </SignInFrame>
  );
}

/**
 * Loads the document again if a link within the console has led here, and when one leads away. The headers that allow
 * the camera, the microphone and the screen belong to the document of a room, and to no other. Returns whether the
 * document is one of a room.
 */
function useOwnDocument(): boolean {
  const isOwn = isRoom(new URL(performance.getEntriesByType('navigation')[0]?.name ?? location.href).pathname);
  useEffect(() => {
    if (!isOwn) location.reload();
    return () => {
      if (!isRoom(location.pathname)) location.reload();
    };
  }, [isOwn]);
  return isOwn;
}

function isRoom(path: string): boolean {
  return /^\/room\//i.test(path);
}
