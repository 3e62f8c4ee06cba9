import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './Button.tsx';
import { Dialog, DialogActions } from './Dialog.tsx';
import { Form, TextField } from './Form.tsx';

type Props = {
  onClose: () => void;
  title: string;
  /** What happens. */
  text: ReactNode;
  /** What has to be typed, such as the name of what is deleted. */
  expected: string;
  /** The label of the field, such as "Name of the workspace". */
  label: string;
  /** The button, such as "Delete". */
  action: string;
  /** The dialog closes when it resolves, and shows the error if it rejects. */
  onConfirm: () => Promise<unknown>;
};

/** Asks for confirmation of an action that cannot be undone and must not happen by mistake. */
export function TypeToConfirmDialog({ onClose, title, text, expected, label, action, onConfirm }: Props) {
  const [isWrong, setIsWrong] = useState(false);
  const confirm = useMutation({ mutationFn: onConfirm, onSuccess: onClose });

  function submit(values: FormData): void {
    const isSame = String(values.get('typed')).trim() === expected.trim();
    setIsWrong(!isSame);
    if (isSame) confirm.mutate();
  }

  return (
    <Dialog onClose={onClose} title={title} description={text}>
      <Form onSubmit={submit} error={confirm.error}>
        <TextField
          name="typed"
          label={label}
          hint={`Type ${expected} to confirm`}
          error={isWrong ? `This is not ${expected}` : undefined}
          autoComplete="off"
          spellCheck={false}
          required
        />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="danger" isPending={confirm.isPending}>
            {action}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
