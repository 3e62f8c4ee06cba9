/** What the workspace holds about a person: export it, or erase it. */
import type { Outputs } from '@lynxroom/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { CheckboxField, Form, TextField } from '../../../../components/Form.tsx';
import { client } from '../../../../lib/client.ts';
import { formatNumber } from '../../../../lib/format.ts';
import { withRecentSignIn } from '../../../../lib/recent-sign-in.ts';
import { saveFile } from '../../../../lib/save-file.ts';
import { showError } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';

type Report = Outputs['people']['erase'];

type PersonDialogProps = {
  onClose: () => void;
  /** The address of the person. Without one, the dialog asks for it. */
  email?: string;
  /** Called after the person was erased and the report was closed. */
  onErased?: () => Promise<void>;
};

export function PersonDialog({ onClose, email, onErased }: PersonDialogProps) {
  const queryClient = useQueryClient();
  const [report, setReport] = useState<Report | null>(null);

  async function close(): Promise<void> {
    const wasErased = report !== null;
    setReport(null);
    onClose();
    if (!wasErased) return;
    await onErased?.();
    // Contacts, bookings, mail and logs have changed.
    await queryClient.invalidateQueries();
  }

  return (
    <Dialog onClose={close} title={report === null ? 'Data about a person' : 'What was erased'} isWide>
      {report === null ? <Choice email={email} onErased={setReport} /> : <ReportView report={report} onDone={close} />}
    </Dialog>
  );
}

function Choice({ email, onErased }: { email: string | undefined; onErased: (report: Report) => void }) {
  const { id, role } = useWorkspace();
  const [address, setAddress] = useState(email ?? '');
  const exportPerson = useMutation({
    mutationFn: () => client.exportPerson({ id, email: address.trim() }),
    onSuccess: (file) => saveFile(file, 'person.json'),
    onError: (error) => showError('Could not export the data', error),
  });
  const erase = useMutation({
    mutationFn: () => withRecentSignIn(() => client.people.erase.mutate({ id, email: address.trim() })),
    onSuccess: onErased,
  });

  return (
    <Form onSubmit={() => erase.mutate()} error={erase.error}>
      {email === undefined ? (
        <TextField
          name="email"
          label="Email"
          type="email"
          required
          autoComplete="off"
          hint="Must match exactly: vera+news@example.com counts as a different person from vera@example.com."
          value={address}
          onChange={({ target }) => setAddress(target.value)}
        />
      ) : (
        <p className="font-medium wrap-anywhere">{email}</p>
      )}
      <section className="flex flex-col items-start gap-2">
        <h3 className="font-medium">Export</h3>
        <p className="text-muted">
          A JSON file with the contact, visits, bookings, invitations, mail, events, messages to webhooks and callbacks
          of meeting providers. It has no secrets.
        </p>
        <Button
          icon={<Download aria-hidden size={16} />}
          disabled={address.trim() === ''}
          isPending={exportPerson.isPending}
          onClick={() => exportPerson.mutate()}
        >
          Export the data
        </Button>
      </section>
      <section className="flex flex-col gap-2 border-t border-line pt-4">
        <h3 className="font-medium">Erase</h3>
        <p className="text-muted">
          Upcoming bookings are cancelled and visits end. Then the contact, visits, bookings, invitations and mail are
          deleted, and names and addresses are removed from events, messages to webhooks and callbacks
          {role === 'owner' && '; for a former member, also from the audit log'}. This cannot be undone.
        </p>
        <CheckboxField name="understood" label="I understand that this cannot be undone" required />
      </section>
      <DialogActions>
        <Button type="submit" tone="danger" isPending={erase.isPending}>
          Erase the person
        </Button>
      </DialogActions>
    </Form>
  );
}

const kinds: readonly [keyof Report['erased'], string][] = [
  ['cancelled_bookings', 'Upcoming bookings that were cancelled'],
  ['bookings', 'Bookings'],
  ['contacts', 'Contacts'],
  ['contact_events', 'Contact events'],
  ['visits', 'Visits'],
  ['invitations', 'Invitations'],
  ['mail', 'Mail'],
  ['events', 'Events'],
  ['webhook_messages', 'Messages to webhooks'],
  ['callbacks', 'Callbacks of meeting providers'],
  ['audit_entries', 'Entries of the audit log'],
];

function ReportView({ report: { erased, is_member }, onDone }: { report: Report; onDone: () => void }) {
  return (
    <>
      <p role="status" className="sr-only">
        The person was erased
      </p>
      <dl className="m-0 grid grid-cols-[1fr_auto] gap-x-6 gap-y-1">
        {kinds.map(([kind, label]) => (
          <div key={kind} className="contents">
            <dt>{label}</dt>
            <dd className="m-0 text-right tabular-nums">{formatNumber(erased[kind])}</dd>
          </div>
        ))}
      </dl>
      {is_member === 1 && (
        <p>The person is a member of the workspace. The membership is not erased; you can remove it under “Members”.</p>
      )}
      <DialogActions>
        <Button tone="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}
