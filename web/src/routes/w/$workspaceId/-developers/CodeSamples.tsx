import { useState } from 'react';
import { Tabs } from '../../../../components/Tabs.tsx';
import { CodeBlock } from './CodeBlock.tsx';

/** `note` says what the code needs. */
export type CodeSample = { label: string; code: string; note?: string };

type CodeSamplesProps = { title: string; text: string; samples: readonly [CodeSample, ...CodeSample[]] };

/** The same in several languages, to paste: the first is shown. */
export function CodeSamples({ title, text, samples }: CodeSamplesProps) {
  const [chosen, setChosen] = useState(samples[0].label);
  return (
    <section aria-label={title}>
      <h3 className="mb-1 font-medium">{title}</h3>
      <p className="mb-2 text-sm text-muted">{text}</p>
      <Tabs
        label="Language"
        value={chosen}
        onChange={setChosen}
        tabs={samples.map(({ label, code, note }) => ({
          value: label,
          label,
          content: (
            <div className="flex flex-col gap-2">
              {note !== undefined && <p>{note}</p>}
              <CodeBlock label={`Sample for ${label}`} text={code} />
            </div>
          ),
        }))}
      />
    </section>
  );
}
