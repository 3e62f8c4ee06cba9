import { CircleCheck, LoaderCircle } from 'lucide-react';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { Time } from '../../../../components/Time.tsx';
import { type Connection, providers } from './providers.ts';

type SetupProps = {
  connection: Connection;
  /** Only just after it was made. */
  secret: string | null;
  onDone: () => void;
};

/** What to paste at the provider, and whether it has called. */
export function Setup({ connection: { provider, ingest_url, last_event_at }, secret, onDone }: SetupProps) {
  return (
    <>
      <ol className="m-0 flex list-decimal flex-col gap-1 pl-5">
        {providers[provider].steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <Copied label="URL for callbacks" value={ingest_url} />
      {secret !== null && (
        <>
          <Copied label="Secret" value={secret} />
          <p role="status" className="text-sm text-muted">
            Copy the secret now. It is not shown again.
          </p>
        </>
      )}
      <p role="status" className="flex items-center gap-2">
        {last_event_at === null ? (
          <>
            <LoaderCircle aria-hidden size={18} className="animate-spin text-muted motion-reduce:animate-none" />
            Waiting for the first callback
          </>
        ) : (
          <>
            <CircleCheck aria-hidden size={18} className="text-success-text" />
            <span>
              The last callback arrived <Time at={last_event_at} />
            </span>
          </>
        )}
      </p>
      <DialogActions>
        <Button tone="primary" onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </>
  );
}

function Copied({ label, value }: { label: string; value: string }) {
  return (
    <div className="flex flex-col gap-1">
      <span aria-hidden className="font-medium">
        {label}
      </span>
      <div className="flex items-center gap-2">
        <input
          readOnly
          aria-label={label}
          value={value}
          onFocus={(event) => event.target.select()}
          className="h-10 min-w-0 grow rounded-lg border border-control-line bg-panel px-3 font-mono text-sm"
        />
        <CopyButton text={value} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}
