import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { Form, TextField } from '../../../../components/Form.tsx';
import { client } from '../../../../lib/client.ts';
import { formatNumber } from '../../../../lib/format.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { problemTexts, type Verification } from './audit.ts';

const MAX_PROBLEMS = 100;

/** Verifies the log. A position that was stored earlier also shows whether the log was rewritten since. */
export function VerifyDialog({ onClose }: { onClose: () => void }) {
  const id = useWorkspaceId();
  const [checked, setChecked] = useState<string | null>(null);
  const verify = useMutation({
    mutationFn: (after: string) =>
      verifyAll(id, after || undefined, ({ checked_sequence: done, last_sequence: last }) =>
        setChecked(`${formatNumber(done)} of ${formatNumber(last)} entries checked`),
      ),
    onSettled: () => setChecked(null),
  });
  return (
    <Dialog
      onClose={onClose}
      title="Verify the log"
      description="Each entry has a hash that covers the one before. The hashes are computed again and compared."
    >
      <Form onSubmit={(values) => verify.mutate(String(values.get('after')).trim())} error={verify.error}>
        <TextField
          name="after"
          label="Position of an earlier verification"
          hint="Leave empty to start from the beginning. A position also shows whether the log was rewritten since then."
          autoComplete="off"
        />
        <div role="status">
          {verify.isPending && <p>{checked ?? 'Checking …'}</p>}
          {verify.isSuccess && <Result {...verify.data} />}
        </div>
        <DialogActions>
          <Button type="submit" tone="primary" isPending={verify.isPending}>
            Verify
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}

/** Calls the operation until it has reached the end of the log. A call checks at most 10,000 entries. */
async function verifyAll(
  id: number,
  start: string | undefined,
  onProgress: (part: Verification) => void,
): Promise<Verification> {
  const problems: Verification['problems'] = [];
  let first: Verification | undefined;
  let after = start;
  for (;;) {
    const part: Verification = await client.audit.verify.query({ id, ...(after !== undefined && { after }) });
    first ??= part;
    problems.push(...part.problems);
    if (part.is_complete === 1 || problems.length >= MAX_PROBLEMS) {
      const isValid = problems.length === 0;
      return { ...part, problems, is_valid: isValid ? 1 : 0, first_sequence: first.first_sequence };
    }
    onProgress(part);
    after = part.position;
  }
}

function Result({ is_valid, first_sequence, checked_sequence, pruned_sequence, problems, position }: Verification) {
  const count = Math.max(0, checked_sequence - first_sequence + 1);
  return (
    <div className={`rounded-lg p-3 ${is_valid === 1 ? 'bg-success-soft' : 'bg-danger-soft'}`}>
      <p className={`font-medium ${is_valid === 1 ? 'text-success-text' : 'text-danger-text'}`}>
        {is_valid === 1 ? 'The log is intact' : 'The log was tampered with'}
      </p>
      <p>
        {checked_sequence === 0 || count === 0
          ? 'There are no new entries to check.'
          : `Checked: entries ${formatNumber(first_sequence)} to ${formatNumber(checked_sequence)}.`}
        {pruned_sequence > 0 && ` Entries up to ${formatNumber(pruned_sequence)} were deleted because of their age.`}
      </p>
      {problems.length > 0 && (
        <ul className="my-2 list-disc pl-5">
          {problems.map(({ sequence, problem }) => (
            <li key={`${sequence} ${problem}`}>
              Entry {formatNumber(sequence)}: {problemTexts[problem]}
            </li>
          ))}
        </ul>
      )}
      {is_valid === 1 && (
        <p className="mt-2 flex flex-wrap items-center gap-1 text-sm">
          <span>
            Store this position outside of the service: <code className="font-mono">{position}</code>
          </span>
          <CopyButton text={position} label="Copy the position" />
        </p>
      )}
    </div>
  );
}
