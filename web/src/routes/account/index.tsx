/** The name and the email address of the user. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { Dialog, DialogActions } from '../../components/Dialog.tsx';
import { Form, TextField } from '../../components/Form.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { Section } from '../../components/Section.tsx';
import { UnsavedChanges } from '../../components/UnsavedChanges.tsx';
import { type Account, account, client, queryClient } from '../../lib/client.ts';
import { formatDate } from '../../lib/format.ts';
import { useOptimisticMutation } from '../../lib/optimistic.ts';
import { withRecentSignIn } from '../../lib/recent-sign-in.ts';
import { showError, showSuccess } from '../../lib/toasts.ts';

export const Route = createFileRoute('/account/')({ component: ProfilePage });

function ProfilePage() {
  // An address is confirmed in another tab.
  const { data: user } = useQuery({ ...account, refetchOnWindowFocus: 'always' });
  // The session has just ended.
  if (!user) return null;
  return (
    <>
      <PageHeader title="Profile" text={`Your account was created on ${formatDate(user.created_at)}`} />
      <NameSection user={user} />
      <EmailSection user={user} />
      <MailSection user={user} />
    </>
  );
}

function NameSection({ user }: { user: Account }) {
  const rename = useOptimisticMutation({
    mutationFn: (name: string) => client.auth.updateMe.mutate({ name }),
    apply: (cache, name) => cache.update(account.queryKey, (before) => before && { ...before, name }),
    failure: 'Could not change your name',
    onSuccess: () => showSuccess('Your name was changed'),
  });
  return (
    <Section title="Name" text="Other members of your workspaces see it.">
      <Form onSubmit={(values) => rename.mutate(String(values.get('name')).trim())} className="max-w-md">
        <UnsavedChanges save={rename} />
        <TextField name="name" label="Name" defaultValue={user.name} autoComplete="name" maxLength={100} required />
        <Button type="submit" tone="primary" className="self-start" isPending={rename.isPending}>
          Save
        </Button>
      </Form>
    </Section>
  );
}

function EmailSection({ user: { email, email_verified } }: { user: Account }) {
  const [isChanging, setIsChanging] = useState(false);
  const resend = useMutation({
    mutationFn: () => client.emails.resend.mutate(),
    onSuccess: () => showSuccess(`A link was sent to ${email}`),
    onError(error) {
      showError('The link was not sent', error);
      // It may have been confirmed in the meantime.
      return queryClient.invalidateQueries(account);
    },
  });
  return (
    <Section
      title="Email"
      text="For signing in, and for messages about your account and your workspaces."
      actions={<Button onClick={() => setIsChanging(true)}>Change the address</Button>}
    >
      <p className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{email}</span>
        {email_verified ? <Badge tone="success">Confirmed</Badge> : <Badge tone="warning">Not confirmed</Badge>}
      </p>
      {!email_verified && (
        <div className="flex flex-col items-start gap-2">
          <p>We have sent you a link to confirm that the address is yours. It works for a day.</p>
          <Button isPending={resend.isPending} onClick={() => resend.mutate()}>
            Send it again
          </Button>
        </div>
      )}
      {isChanging && (
        <Dialog
          onClose={() => setIsChanging(false)}
          title="Change the address"
          description="We send a link to the new address. Your account has the new address once you open the link."
        >
          <ChangeForm onDone={() => setIsChanging(false)} />
        </Dialog>
      )}
    </Section>
  );
}

function MailSection({ user: { recording_mail } }: { user: Account }) {
  const change = useOptimisticMutation({
    mutationFn: (isWanted: boolean) => client.auth.updateMe.mutate({ recording_mail: isWanted }),
    apply: (cache, isWanted) =>
      cache.update(account.queryKey, (before) => before && { ...before, recording_mail: isWanted }),
    failure: 'Could not change the mail',
  });
  return (
    <Section
      title="Mail about recordings"
      text="When a recording of one of your rooms, or one that you started, is ready."
    >
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          checked={recording_mail}
          onChange={(event) => change.mutate(event.currentTarget.checked)}
          className="size-4 accent-accent"
        />
        Send me mail when a recording is ready
      </label>
    </Section>
  );
}

function ChangeForm({ onDone }: { onDone: () => void }) {
  const change = useMutation({
    mutationFn: (email: string) => withRecentSignIn(() => client.emails.change.mutate({ email })),
    onSuccess(_answer, email) {
      showSuccess(`A link was sent to ${email}`);
      onDone();
    },
  });
  return (
    <Form onSubmit={(values) => change.mutate(String(values.get('email')))} error={change.error}>
      <TextField name="email" label="New address" type="email" autoComplete="email" required />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" tone="primary" isPending={change.isPending}>
          Send the link
        </Button>
      </DialogActions>
    </Form>
  );
}
