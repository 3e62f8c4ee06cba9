import type { ReactNode } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Table } from '../../../../components/Table.tsx';
import { formatExactly } from '../../../../lib/format.ts';
import { actionLabels, actorName, type Entry } from './audit.ts';

type EntryDialogProps = {
  entry: Entry;
  onClose: () => void;
  /** Shows only what a person or a key did, such as `user-3`. */
  onFilterBy: (who: string) => void;
};

/** An entry of the audit log, with what was before and after. */
export function EntryDialog({ entry, onClose, onFilterBy }: EntryDialogProps) {
  const { actor, target, sequence, hash, created_at } = entry;
  return (
    <Dialog isWide onClose={onClose} title={actionLabels[entry.action]}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <Detail term="Time">{formatExactly(created_at)}</Detail>
        <Detail term="Who">
          {actorName(entry)} {entry.is_erased === 1 && <Badge tone="warning">Erased</Badge>}
        </Detail>
        {actor.address !== null && <Detail term="Address">{actor.address}</Detail>}
        <Detail term="What">
          {target.name ?? 'No name'} {target.id !== null && <span className="text-muted">(ID {target.id})</span>}
        </Detail>
        <Detail term="Entry">{sequence === null ? 'Gets its number within a second' : sequence}</Detail>
        {hash !== null && (
          <Detail term="Hash">
            <code className="font-mono text-sm">{hash}</code> <CopyButton text={hash} label="Copy the hash" />
          </Detail>
        )}
      </dl>
      <Changes entry={entry} />
      <DialogActions>
        {actor.key_id !== null && (
          <Button onClick={() => onFilterBy(`key-${actor.key_id}`)}>Show only what this key did</Button>
        )}
        {actor.user_id !== null && (
          <Button onClick={() => onFilterBy(`user-${actor.user_id}`)}>
            Show only what {actor.kind === 'user' ? (actor.name ?? 'this user') : 'its user'} did
          </Button>
        )}
      </DialogActions>
    </Dialog>
  );
}

function Detail({ term, children }: { term: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{term}</dt>
      <dd className="min-w-0">{children}</dd>
    </>
  );
}

function Changes({ entry: { before, after } }: { entry: Entry }) {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (fields.length === 0) return <p className="text-muted">No fields were changed.</p>;
  return (
    <Table
      caption="Changes"
      rows={fields}
      keyOf={(field) => field}
      columns={[
        { heading: 'Field', cell: (field) => <code className="font-mono text-sm">{field}</code> },
        { heading: 'Before', cell: (field) => toText(before?.[field]), className: 'min-w-32' },
        { heading: 'After', cell: (field) => toText(after?.[field]), className: 'min-w-32' },
      ]}
    />
  );
}

function toText(value: unknown): ReactNode {
  if (value === undefined || value === null) return <span className="text-muted">None</span>;
  return typeof value === 'string' ? value : <code className="font-mono text-sm">{JSON.stringify(value)}</code>;
}
