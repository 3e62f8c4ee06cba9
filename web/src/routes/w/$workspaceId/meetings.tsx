/** The meetings of all rooms: those that are booked, and those that took place. */
import { createFileRoute, Link } from '@tanstack/react-router';
import { buttonClass } from '../../../components/Button.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { useWorkspaceId } from '../../../lib/workspace.ts';
import { NextBookings } from './-home/NextBookings.tsx';
import { Meetings } from './-rooms/Meetings.tsx';

export const Route = createFileRoute('/w/$workspaceId/meetings')({
  loader: async ({ params }) => (await import('./-rooms/meetings.ts')).loadMeetings(Number(params.workspaceId)),
  component: MeetingsPage,
});

function MeetingsPage() {
  const id = useWorkspaceId();
  return (
    <>
      <PageHeader
        title="Upcoming and past meetings"
        text="In all rooms of the workspace"
        actions={
          <Link to="/w/$workspaceId/rooms" params={{ workspaceId: String(id) }} className={buttonClass()}>
            Rooms
          </Link>
        }
      />
      <div className="flex flex-col gap-8">
        <NextBookings />
        <Meetings />
      </div>
    </>
  );
}
