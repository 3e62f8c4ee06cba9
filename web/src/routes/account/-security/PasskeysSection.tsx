import type { Outputs } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../../../components/Dialog.tsx';
import { Form, TextField } from '../../../components/Form.tsx';
import { Section } from '../../../components/Section.tsx';
import { WholeTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { useOptimisticMutation } from '../../../lib/optimistic.ts';
import { createPasskey, hasPasskeys } from '../../../lib/passkeys.ts';
import { withRecentSignIn } from '../../../lib/recent-sign-in.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { passkeysOptions } from './queries.ts';

type Passkey = Outputs['passkeys']['list']['passkeys'][number];
type Question = { kind: 'rename' | 'remove'; passkey: Passkey };

export function PasskeysSection() {
  const [isAdding, setIsAdding] = useState(false);
  return (
    <Section
      title="Passkeys"
      text="Sign in the way you unlock your device, such as with your fingerprint, instead of with a password and a code."
      actions={hasPasskeys() && <Button onClick={() => setIsAdding(true)}>Add a passkey</Button>}
    >
      {!hasPasskeys() && <p>This browser does not support passkeys.</p>}
      <PasskeyTable />
      {isAdding && (
        <Dialog onClose={() => setIsAdding(false)} title="Add a passkey">
          <AddForm onDone={() => setIsAdding(false)} />
        </Dialog>
      )}
    </Section>
  );
}

function PasskeyTable() {
  const passkeys = useQuery(passkeysOptions);
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);
  return (
    <>
      <WholeTable
        caption="Passkeys"
        list={passkeys}
        rowsOf={(answer) => answer.passkeys}
        failure="The passkeys could not be loaded"
        empty={<p>You have no passkeys yet.</p>}
        skeletonRows={1}
        keyOf={({ id }) => id}
        columns={[
          {
            heading: 'Name',
            className: 'min-w-48',
            cell: ({ name, is_backed_up }) => (
              <>
                <span className="font-medium">{name}</span>
                <span className="block text-sm text-muted">
                  {is_backed_up === 1 ? 'Synced between your devices' : 'On one device'}
                </span>
              </>
            ),
          },
          { heading: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            heading: 'Last used',
            cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Time at={last_used_at} />),
          },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-48 py-1',
            cell: (passkey) => (
              <span className="flex justify-end gap-2">
                <Button
                  size="small"
                  aria-label={`Rename ${passkey.name}`}
                  onClick={() => setQuestion({ kind: 'rename', passkey })}
                >
                  Rename
                </Button>
                <Button
                  size="small"
                  aria-label={`Remove ${passkey.name}`}
                  onClick={() => setQuestion({ kind: 'remove', passkey })}
                >
                  Remove
                </Button>
              </span>
            ),
          },
        ]}
      />
      {question?.kind === 'rename' && <RenameDialog passkey={question.passkey} onClose={() => setQuestion(null)} />}
      {question?.kind === 'remove' && (
        <ConfirmDialog
          onClose={() => setQuestion(null)}
          title={`Remove ${question.passkey.name}?`}
          text="You can no longer sign in with it. Remove it from your device too."
          action="Remove"
          onConfirm={async () => {
            await withRecentSignIn(() => client.passkeys.remove.mutate({ passkeyId: question.passkey.id }));
            await queryClient.invalidateQueries(trpc.passkeys.pathFilter());
            showSuccess('The passkey was removed');
          }}
        />
      )}
    </>
  );
}

function AddForm({ onDone }: { onDone: () => void }) {
  const queryClient = useQueryClient();
  const add = useMutation({
    async mutationFn(name: string) {
      const { options } = await withRecentSignIn(() => client.passkeys.startRegistration.mutate());
      return client.passkeys.register.mutate({ name, response: await createPasskey(options) });
    },
    async onSuccess() {
      await queryClient.invalidateQueries(trpc.passkeys.pathFilter());
      showSuccess('The passkey was added');
      onDone();
    },
  });
  return (
    <Form onSubmit={(values) => add.mutate(String(values.get('name')))} error={add.error}>
      <TextField name="name" label="Name" hint="A name that you recognize, such as Laptop" maxLength={100} required />
      <DialogActions>
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" tone="primary" isPending={add.isPending}>
          Continue
        </Button>
      </DialogActions>
    </Form>
  );
}

function RenameDialog({ passkey, onClose }: { passkey: Passkey; onClose: () => void }) {
  const rename = useOptimisticMutation({
    mutationFn: (name: string) => client.passkeys.rename.mutate({ passkeyId: passkey.id, name }),
    apply(cache, name) {
      cache.update(passkeysOptions.queryKey, (answer) => ({
        ...answer,
        passkeys: answer.passkeys.map((one) => (one.id === passkey.id ? { ...one, name } : one)),
      }));
    },
    failure: 'Could not rename the passkey',
  });

  function submit(values: FormData): void {
    rename.mutate(String(values.get('name')).trim());
    onClose();
  }

  return (
    <Dialog onClose={onClose} title="Rename the passkey">
      <Form onSubmit={submit}>
        <TextField name="name" label="Name" defaultValue={passkey.name} maxLength={100} required />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary">
            Save
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
