import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useDisplay } from '../lib/display.ts';
import { Button, IconButton } from './Button.tsx';

const SHOWN_MS = 2_000;

/** Copies a text. Without `children`, it is an icon. */
export function CopyButton({ text, label, children }: { text: string; label: string; children?: string }) {
  const { texts } = useDisplay();
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);

  async function copy(): Promise<void> {
    // Browsers have no clipboard on a page without HTTPS.
    const copied = await (navigator.clipboard?.writeText(text) ?? Promise.reject()).then(
      () => true,
      () => false,
    );
    setState(copied ? 'copied' : 'failed');
  }

  const icon = state === 'copied' ? <Check aria-hidden size={16} /> : <Copy aria-hidden size={16} />;
  const messages = { idle: '', copied: texts['shared.copied'], failed: texts['shared.selectToCopy'] };
  return (
    <>
      {children === undefined ? (
        <IconButton label={label} icon={icon} className="size-8" onClick={copy} />
      ) : (
        <Button icon={icon} onClick={copy} aria-label={label}>
          {state === 'copied' ? messages.copied : children}
        </Button>
      )}
      <span role="status" className={state === 'failed' ? 'text-sm' : 'sr-only'}>
        {messages[state]}
      </span>
    </>
  );
}
