/** A meeting room in a frame of another origin. */
import { createFileRoute } from '@tanstack/react-router';
import { meetHostPage } from '../lib/host-page.ts';
import { RoomEntry } from '../meeting/RoomEntry.tsx';

meetHostPage();

export const Route = createFileRoute('/embed/room/$name')({ component: EmbeddedRoom });

function EmbeddedRoom() {
  return <RoomEntry roomName={Route.useParams().name} />;
}
