import { Link } from '@tanstack/react-router';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { isActive, useUploads } from '../-library/uploads.ts';

/** Leads to the uploads of this tab that have not ended. */
export function OngoingUploads() {
  const id = useWorkspaceId();
  const active = useUploads(id).filter(isActive).length;
  if (active === 0) return null;
  return (
    <p role="status" className="mb-6 rounded-xl border border-line px-4 py-3">
      {active === 1 ? '1 file is' : `${active} files are`} being uploaded to the{' '}
      <Link to="/w/$workspaceId/library" params={{ workspaceId: String(id) }} className="link">
        library
      </Link>
      .
    </p>
  );
}
