import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { CreateWorkspaceDialog } from '../../../../frame/CreateWorkspaceDialog.tsx';

type TeamDialogProps = {
  onClose: () => void;
  /** The person wants to invite to this workspace all the same. */
  onContinue: () => void;
};

/** Who wants to share their own workspace mostly wants one for the team. */
export function TeamDialog({ onClose, onContinue }: TeamDialogProps) {
  const [isCreating, setIsCreating] = useState(false);
  if (isCreating) return <CreateWorkspaceDialog onClose={onClose} />;
  return (
    <Dialog
      onClose={onClose}
      title="Invite to your own workspace?"
      description="Everybody whom you invite here sees your own rooms, files and contacts. A team has its own, and can get another owner."
    >
      <DialogActions>
        <Button onClick={onContinue}>Invite here</Button>
        <Button tone="primary" onClick={() => setIsCreating(true)}>
          Create a team
        </Button>
      </DialogActions>
    </Dialog>
  );
}
