/** Complete receivers to paste. A test checks that they equal those of `examples`, which other tests run. */
import { useState } from 'react';
import { Tabs } from '../../../../components/Tabs.tsx';
import { CodeBlock } from './CodeBlock.tsx';
import python from './receivers/receive_webhooks.py.txt?raw';
import node from './receivers/receive-webhooks.mjs.txt?raw';

const receivers = [
  { value: 'node', label: 'Node', code: node, file: 'receive-webhooks.mjs', command: 'node receive-webhooks.mjs' },
  {
    value: 'python',
    label: 'Python',
    code: python,
    file: 'receive_webhooks.py',
    command: 'python3 receive_webhooks.py',
  },
];

export default function ReceiverCode({ secret }: { secret: string }) {
  const [chosen, setChosen] = useState('node');
  return (
    <section aria-label="A receiver to start from">
      <h3 className="mb-1 font-medium">A receiver to start from</h3>
      <p className="mb-2 text-sm text-muted">
        It needs no packages. It checks the signature of each request at <code className="font-mono">/hook</code>, port
        4000.
      </p>
      <Tabs
        label="Language"
        value={chosen}
        onChange={setChosen}
        tabs={receivers.map(({ value, label, code, file, command }) => ({
          value,
          label,
          content: (
            <div className="flex flex-col gap-2">
              <p>
                Save it as <code className="font-mono">{file}</code>:
              </p>
              <CodeBlock label={file} text={code} />
              <p>Start it with the secret:</p>
              <CodeBlock label="The command" text={`WEBHOOK_SECRET=${secret} ${command}`} />
            </div>
          ),
        }))}
      />
    </section>
  );
}
