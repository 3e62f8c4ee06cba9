/** The dialog of `IdentityDialog.tsx`, which loads it when it is needed. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/Button.tsx';
import { Dialog, DialogActions } from '../components/Dialog.tsx';
import { ErrorNote } from '../components/ErrorPanel.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { client, trpc } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { askForPasskey, hasPasskeys } from '../lib/passkeys.ts';
import { finishIdentityCheck } from '../lib/recent-sign-in.ts';
import { ProviderButtons } from './ProviderButtons.tsx';

export function IdentityDialog() {
  const [needsCode, setNeedsCode] = useState(false);
  const confirm = useMutation({
    mutationFn: (input: { password: string; code?: string }) => client.auth.reauthenticate.mutate(input),
    onSuccess: () => finishIdentityCheck(true),
    onError(error) {
      if (refusalWith(error, 'SECOND_FACTOR_REQUIRED')) setNeedsCode(true);
    },
  });
  // The form asks for the code in a separate field, so this is not shown as an error.
  const error = refusalWith(confirm.error, 'SECOND_FACTOR_REQUIRED') ? null : confirm.error;

  function submit(values: FormData): void {
    const code = String(values.get('code') ?? '');
    confirm.mutate({ password: String(values.get('password')), ...(code !== '' && { code }) });
  }

  return (
    <Dialog
      onClose={() => finishIdentityCheck(false)}
      title="Confirm your identity"
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
        <OtherWays />
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

/** The passkeys and linked accounts of the user: some users have no password. */
function OtherWays() {
  const passkeys = useQuery({ ...trpc.passkeys.list.queryOptions({ limit: 1 }), enabled: hasPasskeys() });
  const identities = useQuery(trpc.openid.identities.queryOptions({}));
  const linked = identities.data?.identities ?? [];
  const confirm = useMutation({
    async mutationFn() {
      const { options } = await client.passkeys.startReauthentication.mutate();
      return client.passkeys.reauthenticate.mutate({ response: await askForPasskey(options) });
    },
    onSuccess: () => finishIdentityCheck(true),
  });
  const hasPasskey = passkeys.data !== undefined && passkeys.data.passkeys.length > 0;
  return (
    <div className="flex flex-col gap-2 empty:hidden">
      {confirm.error && <ErrorNote error={confirm.error} />}
      {hasPasskey && (
        <Button
          icon={<KeyRound aria-hidden size={18} />}
          isPending={confirm.isPending}
          onClick={() => confirm.mutate()}
        >
          Use a passkey
        </Button>
      )}
      {linked.length > 0 && (
        <>
          <ProviderButtons
            start={(input) => client.openid.reauthenticate.mutate(input)}
            returnTo={`${location.pathname}${location.search}`}
            isShown={({ id }) => linked.some(({ provider }) => provider === id)}
          />
          <p className="text-sm text-muted">The provider sends you back to this page. Then repeat your action.</p>
        </>
      )}
    </div>
  );
}
