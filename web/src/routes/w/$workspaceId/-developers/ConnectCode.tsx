/** How programs call the service with a new key, to paste: the first call in three languages. */
import { type CodeSample, CodeSamples } from './CodeSamples.tsx';

type ConnectCodeProps = { workspaceId: number; apiKey: string };

export default function ConnectCode({ workspaceId, apiKey }: ConnectCodeProps) {
  return (
    <CodeSamples
      title="Connect"
      text="Each sample lists the labels of this workspace. It contains the key: store the key outside of your code."
      samples={toSamples(location.origin, workspaceId, apiKey)}
    />
  );
}

function toSamples(origin: string, workspaceId: number, apiKey: string): [CodeSample, ...CodeSample[]] {
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
