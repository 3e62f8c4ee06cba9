import type { ReactNode } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';

type SecretProps = {
  label: string;
  value: string;
  onDone: () => void;
  /** How to use it. */
  children?: ReactNode;
};

/** A secret that is shown once. */
export function Secret({ label, value, onDone, children }: SecretProps) {
  return (
    <>
      <p role="status">Copy the secret now. It is not shown again.</p>
      <div className="flex items-center gap-2">
        <input
          readOnly
          aria-label={label}
          value={value}
          onFocus={(event) => event.target.select()}
          className="h-10 min-w-0 grow rounded-lg border border-control-line bg-panel px-3 font-mono text-sm"
        />
        <CopyButton text={value} label={`Copy the ${label}`} />
      </div>
      {children}
      <DialogActions>
        <Button tone="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}
