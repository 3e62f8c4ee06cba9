/** How a page shows what an embed token allows, to paste. */
import { type CodeSample, CodeSamples } from './CodeSamples.tsx';
import type { EmbedToken } from './embed-tokens.ts';

type Scope = Pick<EmbedToken, 'kind' | 'access' | 'label_id'>;

type EmbedCodeProps = { workspaceId: number; token: string; scope: Scope };

export default function EmbedCode({ workspaceId, token, scope }: EmbedCodeProps) {
  return (
    <CodeSamples
      title="Embed"
      text="Try it with this token, on a page of one of your origins. In your product, your server makes a token for each person who may see the page."
      samples={toSamples(location.origin, workspaceId, token, scope)}
    />
  );
}

function toSamples(
  origin: string,
  workspaceId: number,
  token: string,
  { kind, access, label_id }: Scope,
): [CodeSample, ...CodeSample[]] {
  const component = kind === 'library' ? 'Library' : 'WebhookPortal';
  const wanted = { kind, ...(access !== null && { access }), ...(label_id !== null && { label_id }) };
  return [
    {
      label: 'Script',
      code: `<script src="${origin}/embed.js"></script>
<div id="${kind}"></div>
<script>
  lynxroom.${kind}('#${kind}', {
    workspace: ${workspaceId},
    token: '${token}',
  });
</script>`,
    },
    {
      label: 'React',
      note: 'Needs the package @lynxroom/react.',
      code: `import { ${component} } from '@lynxroom/react';

export function Embedded() {
  return (
    <${component}
      service="${origin}"
      workspace={${workspaceId}}
      token="${token}"
    />
  );
}`,
    },
    {
      label: 'Your server',
      note: 'Makes the next token, with an API key.',
      code: `curl -sS "${origin}/api/workspaces/${workspaceId}/embed-tokens" \\
  -H "Authorization: Bearer $LYNXROOM_TOKEN" \\
  --json '${JSON.stringify(wanted)}'`,
    },
  ];
}
