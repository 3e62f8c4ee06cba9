/** How programs call the service with a new key, to paste: the first call in three languages. */
import { useState } from 'react';
import { Tabs } from '../../../../components/Tabs.tsx';
import { CodeBlock } from './CodeBlock.tsx';

type ConnectCodeProps = { workspaceId: number; apiKey: string };

export default function ConnectCode({ workspaceId, apiKey }: ConnectCodeProps) {
  const [chosen, setChosen] = useState('curl');
  const samples = toSamples(location.origin, workspaceId, apiKey);
  return (
    <section aria-label="Connect">
      <h3 className="mb-1 font-medium">Connect</h3>
      <p className="mb-2 text-sm text-muted">
        Each sample lists the labels of this workspace. It contains the key: store the key outside of your code.
      </p>
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

type Sample = { label: string; code: string; note?: string };

function toSamples(origin: string, workspaceId: number, apiKey: string): Sample[] {
  const url = `${origin}/api/workspaces/${workspaceId}/labels`;
  return [
    { label: 'curl', code: `curl -sS "${url}" \\\n  -H "Authorization: Bearer ${apiKey}"` },
    {
      label: 'TypeScript',
      note: 'Needs the package @lynxroom/client.',
      code: `import { createClient } from '@lynxroom/client';

const client = createClient({
  url: '${origin}',
  token: '${apiKey}',
});
const { labels } = await client.labels.list.query({ id: ${workspaceId} });
console.log(labels);`,
    },
    {
      label: 'Python',
      note: 'Needs no packages.',
      code: `import json
import urllib.request

request = urllib.request.Request(
    "${url}",
    headers={"Authorization": "Bearer ${apiKey}"},
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["labels"])`,
    },
  ];
}
