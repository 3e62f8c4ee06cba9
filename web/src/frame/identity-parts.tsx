/** The dialog of `IdentityDialog.tsx`, which loads it when it is needed. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { KeyRound, LogIn } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../components/Button.tsx';
import { Dialog, DialogActions } from '../components/Dialog.tsx';
import { ErrorNote } from '../components/ErrorPanel.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { client, trpc } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { askForPasskey, hasPasskeys } from '../lib/passkeys.ts';
import { type Provider, useProviders } from '../lib/providers.ts';
import { finishIdentityCheck } from '../lib/recent-sign-in.ts';

export function IdentityDialog() {
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
  const linked = new Set(identities.data?.identities.map(({ provider }) => provider));
  const providers = useProviders().filter(({ id }) => linked.has(id));
  const confirmByPasskey = useMutation({
    async mutationFn() {
      const { options } = await client.passkeys.startReauthentication.mutate();
      return client.passkeys.reauthenticate.mutate({ response: await askForPasskey(options) });
    },
    onSuccess: () => finishIdentityCheck(true),
  });
  const goTo = useMutation({
    async mutationFn({ id }: Provider) {
      const { pathname, search } = location;
      const { url } = await client.openid.reauthenticate.mutate({ provider: id, return_to: `${pathname}${search}` });
      location.assign(url);
    },
  });
  const error = confirmByPasskey.error ?? goTo.error;
  const hasPasskey = passkeys.data !== undefined && passkeys.data.passkeys.length > 0;
  if (!hasPasskey && providers.length === 0) return null;
  return (
    <div className="flex flex-col gap-2">
      {error && <ErrorNote error={error} />}
      {hasPasskey && (
        <Button
          icon={<KeyRound aria-hidden size={18} />}
          isPending={confirmByPasskey.isPending}
          onClick={() => confirmByPasskey.mutate()}
        >
          Use a passkey
        </Button>
      )}
      {providers.map((provider) => (
        <Button
          key={provider.id}
          icon={<LogIn aria-hidden size={18} />}
          isPending={goTo.isPending}
          onClick={() => goTo.mutate(provider)}
        >
          Continue with {provider.name}
        </Button>
      ))}
      {providers.length > 0 && (
        <p className="text-sm text-muted">A provider leads back to this page. Then do again what you were about to.</p>
      )}
    </div>
  );
}
