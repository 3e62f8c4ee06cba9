import { useMutation } from '@tanstack/react-query';
import { useState, useSyncExternalStore } from 'react';
import { Button } from '../components/Button.tsx';
import { Dialog, DialogActions } from '../components/Dialog.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { client } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { finishIdentityCheck, readIsWaiting, subscribeToIdentityCheck } from '../lib/recent-sign-in.ts';

/** Asks who the user is, while `withRecentSignIn` waits for it. */
export function IdentityDialog() {
  const isOpen = useSyncExternalStore(subscribeToIdentityCheck, readIsWaiting);
  return isOpen && <OpenIdentityDialog />;
}

function OpenIdentityDialog() {
  const [needsCode, setNeedsCode] = useState(false);
  const confirm = useMutation({
    mutationFn: (input: { password: string; code?: string }) => client.auth.reauthenticate.mutate(input),
    onSuccess: () => finishIdentityCheck(true),
    onError(error) {
      if (refusalWith(error, 'SECOND_FACTOR_REQUIRED')) setNeedsCode(true);
    },
  });
  // The code is asked for in a field of its own, which is no error.
  const error = refusalWith(confirm.error, 'SECOND_FACTOR_REQUIRED') ? null : confirm.error;

  function submit(values: FormData): void {
    const code = String(values.get('code') ?? '');
    confirm.mutate({ password: String(values.get('password')), ...(code !== '' && { code }) });
  }

  return (
    <Dialog
      isOpen
      onOpenChange={() => finishIdentityCheck(false)}
      title="Confirm that it is you"
      description="This needs a recent sign-in."
    >
      <Form onSubmit={submit} error={error}>
        <TextField name="password" label="Password" type="password" autoComplete="current-password" required />
        {needsCode && (
          <TextField
            name="code"
            label="Code"
            hint="From your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            required
          />
        )}
        <DialogActions>
          <Button onClick={() => finishIdentityCheck(false)}>Cancel</Button>
          <Button type="submit" tone="primary" isPending={confirm.isPending}>
            Confirm
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
