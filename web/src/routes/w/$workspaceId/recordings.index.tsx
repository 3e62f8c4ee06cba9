/** All recordings of the workspace that the person can watch. */
import { createFileRoute } from '@tanstack/react-router';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { WorkspaceRecordings } from './-rooms/WorkspaceRecordings.tsx';

export const Route = createFileRoute('/w/$workspaceId/recordings/')({ component: RecordingsPage });

function RecordingsPage() {
  return (
    <>
      <PageHeader title="Recordings" text="What was recorded in the rooms of the workspace" />
      <WorkspaceRecordings />
    </>
  );
}
