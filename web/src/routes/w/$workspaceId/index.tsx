/** Where somebody who comes to a workspace starts: to meet now, and what has happened or comes next. */
import { createFileRoute } from '@tanstack/react-router';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { JoinableWorkspaces } from '../../../frame/JoinableWorkspaces.tsx';
import { useHasRole, useWorkspace } from '../../../lib/workspace.ts';
import { Checklist } from './-home/Checklist.tsx';
import { LatestRecordings } from './-home/LatestRecordings.tsx';
import { MeetNow } from './-home/MeetNow.tsx';
import { NextBookings } from './-home/NextBookings.tsx';
import { OngoingMeetings } from './-home/OngoingMeetings.tsx';
import { OngoingUploads } from './-home/OngoingUploads.tsx';
import { WaitingPeople } from './-home/WaitingPeople.tsx';

export const Route = createFileRoute('/w/$workspaceId/')({
  // In a chunk of its own: what loaders import is otherwise loaded with the first page.
  loader: async ({ params }) => (await import('./-home/queries.ts')).loadHome(Number(params.workspaceId)),
  component: HomePage,
});

function HomePage() {
  const { name, is_personal } = useWorkspace();
  const isAdmin = useHasRole('admin');
  return (
    <>
      <PageHeader title="Home" text={name} />
      {is_personal === 1 && <JoinableWorkspaces />}
      {isAdmin && <Checklist />}
      <OngoingUploads />
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <MeetNow />
        <WaitingPeople />
        <OngoingMeetings />
        <NextBookings />
        <LatestRecordings />
      </div>
    </>
  );
}
