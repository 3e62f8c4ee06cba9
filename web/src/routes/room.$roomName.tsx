/** A meeting room, for everybody who has its link. */
import { createFileRoute } from '@tanstack/react-router';
import { useEffect } from 'react';
import { RoomEntry } from '../meeting/RoomEntry.tsx';

export const Route = createFileRoute('/room/$roomName')({ component: RoomPage });

function RoomPage() {
  const { roomName } = Route.useParams();
  const isOwn = useOwnDocument();
  return <RoomEntry roomName={roomName} isEnabled={isOwn} />;
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
