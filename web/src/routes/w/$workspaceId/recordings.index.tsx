/** All recordings of the workspace that the person can watch. */
import { createFileRoute } from '@tanstack/react-router';
import { WorkspaceRecordings } from './-rooms/WorkspaceRecordings.tsx';

export const Route = createFileRoute('/w/$workspaceId/recordings/')({ component: WorkspaceRecordings });
