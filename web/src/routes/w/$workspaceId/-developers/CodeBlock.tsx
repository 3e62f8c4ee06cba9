import { CopyButton } from '../../../../components/CopyButton.tsx';

/** Code or data to read and to copy. It scrolls without scrolling the page. */
export function CodeBlock({ label, text }: { label: string; text: string }) {
  return (
    <div className="relative rounded-lg border border-line bg-panel">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard. */}
      <section aria-label={label} tabIndex={0} className="max-h-72 overflow-auto p-3 pr-12">
        <pre className="m-0 font-mono text-sm whitespace-pre-wrap">{text}</pre>
      </section>
      <div className="absolute top-1 right-1">
        <CopyButton text={text} label={`Copy: ${label}`} />
      </div>
    </div>
  );
}

/** JSON text in lines, or the text as it is if it is not JSON. */
export function toReadable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
