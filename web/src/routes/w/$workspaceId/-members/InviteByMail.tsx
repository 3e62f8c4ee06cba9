import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CircleAlert, CircleCheck } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Form, SelectField, TextAreaField } from '../../../../components/Form.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { describeError } from '../../../../lib/errors.ts';
import { formatDateTime } from '../../../../lib/format.ts';
import { isLocal } from '../../../../lib/is-local.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { MAX_ADDRESSES, readAddresses } from './addresses.ts';

/** `error` is null once the invitation is on its way, or waits until `scheduledAt`. */
type Outcome = { error: string | null; scheduledAt: number | null };
type Result = Outcome & { address: string };
type InvitedRole = 'member' | 'admin';

const roleOptions = [
  { value: 'member', label: 'Member' },
  { value: 'admin', label: 'Admin' },
];

/** Invites many people at once. Those who could not be invited stay in the field, with the reason below it. */
export function InviteByMail({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      title="Invite by mail"
      description="Each person gets a link that works once, within 7 days."
    >
      <InviteForm />
    </Dialog>
  );
}

function InviteForm() {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const file = useRef<HTMLInputElement>(null);
  const isClosed = useRef(false);
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  const [text, setText] = useState('');
  const [role, setRole] = useState<InvitedRole>('member');
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [results, setResults] = useState<readonly Result[]>([]);
  const send = useMutation({
    async mutationFn(addresses: readonly string[]) {
      setResults([]);
      const left = new Set(addresses);
      // One after the other: the service locks the workspace for each. Closing the dialog ends it.
      for (const address of addresses) {
        if (isClosed.current) break;
        const outcome = await invite(id, address, role);
        setResults((before) => [...before, { address, ...outcome }]);
        if (outcome.error === null) left.delete(address);
        setText([...left].join('\n'));
      }
      // The form starts again, so that closing it loses nothing.
      if (left.size === 0) setRole('member');
      await queryClient.invalidateQueries(trpc.invitations.pathFilter());
    },
  });

  function submit(): void {
    const addresses = readAddresses(text);
    if (addresses.length === 0 || addresses.length > MAX_ADDRESSES) {
      setProblem(addresses.length === 0 ? 'There is no address' : `At most ${MAX_ADDRESSES} addresses at once`);
      return;
    }
    setProblem(undefined);
    send.mutate(addresses);
  }

  async function readFile(chosen: File | undefined): Promise<void> {
    if (chosen === undefined) return;
    const addresses = readAddresses(await chosen.text());
    setProblem(addresses.length === 0 ? `There is no address in ${chosen.name}` : undefined);
    setText((before) => [...new Set([...readAddresses(before), ...addresses])].join('\n'));
  }

  const sent = results.filter(({ error }) => error === null).length;
  return (
    <Form onSubmit={submit}>
      <UnsavedChanges save={{ isPending: send.isPending }} />
      <TextAreaField
        name="addresses"
        label="Addresses"
        hint="As many as you like, separated by commas, spaces or lines"
        error={problem}
        value={text}
        rows={5}
        onChange={({ target }) => setText(target.value)}
      />
      <input
        ref={file}
        type="file"
        accept=".csv,.txt,text/csv,text/plain"
        aria-label="CSV file"
        className="hidden"
        onChange={({ target }) => {
          void readFile(target.files?.[0]);
          target.value = '';
        }}
      />
      <SelectField
        name="role"
        label="Role"
        hint="Admins can invite others, and change rooms."
        options={roleOptions}
        value={role}
        onChange={({ target }) => setRole(target.value === 'admin' ? 'admin' : 'member')}
      />
      <div role="status">
        {results.length > 0 && (
          <ul aria-label="Results" className="m-0 flex max-h-40 list-none flex-col gap-1 overflow-y-auto p-0 text-sm">
            {results.map((result) => (
              <ResultLine key={result.address} {...result} />
            ))}
          </ul>
        )}
        {sent > 0 && isLocal && (
          <p className="mt-2 text-sm text-muted">
            If this machine has no mail server, the links are in{' '}
            <a href="/mail" className="link">
              the mail that was not sent
            </a>
            .
          </p>
        )}
      </div>
      <DialogActions>
        <Button onClick={() => file.current?.click()}>Read a CSV file</Button>
        <Button type="submit" tone="primary" isPending={send.isPending}>
          Send invitations
        </Button>
      </DialogActions>
    </Form>
  );
}

function ResultLine({ address, error, scheduledAt }: Result) {
  const done = scheduledAt === null ? 'invited' : `will be sent on ${formatDateTime(scheduledAt)}`;
  return (
    <li className="flex items-start gap-2">
      {error === null ? (
        <CircleCheck aria-hidden size={18} className="shrink-0 text-success-text" />
      ) : (
        <CircleAlert aria-hidden size={18} className="shrink-0 text-danger-text" />
      )}
      <span className="min-w-0 wrap-anywhere">
        {address}: {error ?? done}
      </span>
    </li>
  );
}

async function invite(id: number, email: string, role: InvitedRole): Promise<Outcome> {
  try {
    const { invitation } = await client.invitations.create.mutate({ id, email, role });
    return { error: null, scheduledAt: invitation.scheduled_at };
  } catch (error) {
    const { message, issues } = describeError(error);
    return { error: issues[0]?.message ?? message, scheduledAt: null };
  }
}
