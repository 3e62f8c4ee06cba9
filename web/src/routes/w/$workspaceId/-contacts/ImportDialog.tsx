/** The import of contacts from a CSV file: progress, what was imported, and which lines were not. */
import type { ImportAnswer } from '@lynxroom/client';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Field, Form } from '../../../../components/Form.tsx';
import { Table } from '../../../../components/Table.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { formatBytes, formatNumber } from '../../../../lib/format.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

type State =
  | { kind: 'choosing'; error: unknown }
  | { kind: 'sending'; sent: number; total: number }
  | { kind: 'done'; result: ImportAnswer };

const MAX_BYTES = 10 * 1024 * 1024;
const TOO_LARGE = new Error('The file is larger than 10 MB. Split it into several files.');

export function ImportDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Import contacts" isWide>
      <Import onDone={onClose} />
    </Dialog>
  );
}

function Import({ onDone }: { onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [state, setState] = useState<State>({ kind: 'choosing', error: null });
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);

  async function run(csv: File): Promise<void> {
    if (csv.size > MAX_BYTES) return setState({ kind: 'choosing', error: TOO_LARGE });
    setState({ kind: 'sending', sent: 0, total: csv.size });
    try {
      const result = await client.importContacts(
        { id, csv },
        { onProgress: (progress) => setState({ kind: 'sending', ...progress }) },
      );
      setState({ kind: 'done', result });
      // The import goes on if the dialog is closed meanwhile.
      if (!isShown.current) showSuccess(`Contacts: ${summarize(result)}`);
    } catch (error) {
      setState({ kind: 'choosing', error });
      if (!isShown.current) showError('Could not import the contacts', error);
    }
    // What was imported before an error remains.
    await queryClient.invalidateQueries(trpc.contacts.pathFilter());
  }

  if (state.kind === 'done') return <Result result={state.result} onDone={onDone} />;
  return (
    <>
      {/* The form stays, so that the chosen file stays too if the import fails. */}
      <Form
        error={state.kind === 'choosing' ? state.error : null}
        className={state.kind === 'sending' ? 'hidden' : ''}
        onSubmit={(values) => {
          const file = values.get('csv');
          if (file instanceof File) void run(file);
        }}
      >
        <Field
          name="csv"
          label="CSV file"
          hint="From a spreadsheet, Google Contacts or Outlook, up to 10 MB and 100,000 rows. The first row names the columns: email, and optionally name. A contact that exists gets the name in the file."
        >
          {(control) => (
            <input
              {...control}
              type="file"
              required
              accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
              className={`py-2 file:mr-3 file:rounded-md file:border-0 file:bg-hover file:px-3 file:py-1 file:text-text ${control.className}`}
            />
          )}
        </Field>
        <DialogActions>
          <Button type="submit" tone="primary">
            Import
          </Button>
        </DialogActions>
      </Form>
      {state.kind === 'sending' && <Sending {...state} />}
    </>
  );
}

/** The rows are written once the whole file has arrived. The service does not report the progress of this step. */
function Sending({ sent, total }: { sent: number; total: number }) {
  const isSent = sent >= total;
  return (
    <div className="flex flex-col gap-2">
      <p role="status">{isSent ? 'Importing the rows…' : 'Sending the file…'}</p>
      <progress aria-label="Import" className="w-full accent-accent" {...(isSent ? {} : { value: sent, max: total })} />
      <p className="text-sm text-muted">
        {formatBytes(sent)} of {formatBytes(total)}
      </p>
    </div>
  );
}

function Result({ result, onDone }: { result: ImportAnswer; onDone: () => void }) {
  const { skipped, skipped_count } = result;
  return (
    <>
      <p role="status">{summarize(result)}</p>
      {skipped.length > 0 && (
        <Table
          caption="Skipped lines"
          rows={skipped}
          keyOf={({ line }) => line}
          columns={[
            { heading: 'Line', cell: ({ line }) => line, isNumber: true, className: 'w-20' },
            { heading: 'Problem', cell: ({ problem }) => problem },
          ]}
        />
      )}
      {skipped_count > skipped.length && (
        <p className="text-sm text-muted">
          These are the first {formatNumber(skipped.length)}. Correct the file and import it again: contacts that exist
          are not added twice.
        </p>
      )}
      <DialogActions>
        <Button tone="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

function summarize({ created, updated, skipped_count }: ImportAnswer): string {
  return `${formatNumber(created)} added, ${formatNumber(updated)} updated, ${formatNumber(skipped_count)} skipped`;
}
