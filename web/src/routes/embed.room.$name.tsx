/** A meeting room in a frame of another origin. */
import { createFileRoute } from '@tanstack/react-router';
import { useEffect } from 'react';
import { meetHostPage } from '../lib/host-page.ts';
import { RoomEntry } from '../meeting/RoomEntry.tsx';

export const Route = createFileRoute('/embed/room/$name')({ component: EmbeddedRoom });

function EmbeddedRoom() {
  useEffect(meetHostPage, []);
  return <RoomEntry roomName={Route.useParams().name} />;
}
