import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { CheckboxField, Form, TextField } from '../../../components/Form.tsx';
import { Section } from '../../../components/Section.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { useAccount } from '../../../lib/session.ts';
import { showError, showSuccess } from '../../../lib/toasts.ts';

type NewPassword = { current_password: string; password: string; end_api_keys: boolean };

export function PasswordSection() {
  const queryClient = useQueryClient();
  const email = useAccount()?.email ?? '';
  // A new key empties the fields.
  const [version, setVersion] = useState(0);
  const change = useMutation({
    mutationFn: (input: NewPassword) => client.auth.updateMe.mutate(input),
    onSuccess({ total = 0 }) {
      const rest = total > 0 ? '. Look through the lasting access below' : '';
      showSuccess(`The password was changed, and all your other sessions have ended${rest}`);
      setVersion((before) => before + 1);
      return Promise.all([
        queryClient.invalidateQueries(trpc.sessions.pathFilter()),
        queryClient.invalidateQueries(trpc.access.pathFilter()),
      ]);
    },
  });
  const sendLink = useMutation({
    mutationFn: () => client.passwords.forgot.mutate({ email }),
    onSuccess: () => showSuccess(`A link was sent to ${email}`),
    onError: (error) => showError('The link was not sent', error),
  });

  function submit(values: FormData): void {
    const read = (name: string) => String(values.get(name));
    const end_api_keys = values.get('end_api_keys') !== null;
    change.mutate({ current_password: read('current_password'), password: read('password'), end_api_keys });
  }

  return (
    <Section
      title="Password"
      text="A new one ends all your other sessions. If you forgot it, or have none, set one with a link that we send you."
      actions={
        <Button isPending={sendLink.isPending} onClick={() => sendLink.mutate()}>
          Set a password by email
        </Button>
      }
    >
      <Form key={version} onSubmit={submit} error={change.error} className="max-w-md">
        {/* For password managers. */}
        <input type="hidden" name="username" autoComplete="username" value={email} />
        <TextField
          name="current_password"
          label="Current password"
          type="password"
          autoComplete="current-password"
          required
        />
        <TextField
          name="password"
          label="New password"
          hint="8 to 200 characters"
          type="password"
          autoComplete="new-password"
          minLength={8}
          maxLength={200}
          required
        />
        <CheckboxField name="end_api_keys" label="Also revoke the API keys that I created, in all workspaces" />
        <Button type="submit" tone="primary" className="self-start" isPending={change.isPending}>
          Change the password
        </Button>
      </Form>
    </Section>
  );
}
