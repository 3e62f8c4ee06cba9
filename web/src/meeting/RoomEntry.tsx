/** A room: reads what everybody may know of it, and shows the visit for how its meetings are carried. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { SkeletonRows } from '../components/Skeleton.tsx';
import { useBrandColor } from '../frame/Brand.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { GuestLanguage } from '../languages/GuestLanguage.tsx';
import { LanguagePicker } from '../languages/LanguagePicker.tsx';
import { useTexts } from '../languages/texts.ts';
import { trpc } from '../lib/client.ts';
import { takeLink } from './entry-link.ts';

// Loaded together with the room, not after it.
const loading = {
  meeting: import('./MeetingVisit.tsx'),
  provider: () => import('./ProviderVisit.tsx'),
};
const MeetingVisit = lazy(() => loading.meeting.then((parts) => ({ default: parts.MeetingVisit })));
const ProviderVisit = lazy(() => loading.provider().then((parts) => ({ default: parts.ProviderVisit })));

export function RoomEntry({ roomName, isEnabled = true }: { roomName: string; isEnabled?: boolean }) {
  // Before anything else reads the address.
  useState(() => takeLink(roomName));
  const room = useQuery({ ...trpc.rooms.readPublic.queryOptions({ roomName }), enabled: isEnabled });
  useBrandColor(room.data?.room.branding.color ?? null);
  if (room.data !== undefined) {
    const Visit = room.data.room.media === 'none' ? ProviderVisit : MeetingVisit;
    const loading = <Loading title={room.data.room.display_name ?? roomName} />;
    return (
      <GuestLanguage ofWorkspace={room.data.room.branding.language} fallback={loading}>
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
