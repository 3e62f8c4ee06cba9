import { Button } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { DialogActions } from '../../../components/Dialog.tsx';
import { saveFile } from '../../../lib/save-file.ts';

/** The recovery codes, which are shown once. */
export function RecoveryCodes({ codes, onDone }: { codes: readonly string[]; onDone: () => void }) {
  const text = `${codes.join('\n')}\n`;
  return (
    <>
      <p role="status">
        Each replaces a code from the app once, for example if you lose your phone. Store them now: they are not shown
        again.
      </p>
      <ul aria-label="Recovery codes" className="m-0 grid list-none gap-1 p-0 font-mono sm:grid-cols-2">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <DialogActions>
        <CopyButton text={text} label="Copy the codes">
          Copy
        </CopyButton>
        <Button onClick={() => saveFile(new Blob([text], { type: 'text/plain' }), 'lynxroom-recovery-codes.txt')}>
          Save as a file
        </Button>
        <Button tone="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}
