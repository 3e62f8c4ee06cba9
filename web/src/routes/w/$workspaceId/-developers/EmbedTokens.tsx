import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { AppWindow } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { ConfirmDialog } from '../../../../components/Dialog.tsx';
import { EmptyState } from '../../../../components/EmptyState.tsx';
import { InfiniteTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { describeScope, type EmbedToken, embedTokensOptions } from './embed-tokens.ts';

/** The embed tokens that work. */
export function EmbedTokens({ onCreate }: { onCreate: () => void }) {
  const tokens = useInfiniteQuery(embedTokensOptions(useWorkspaceId()));
  const [revoked, setRevoked] = useState<EmbedToken | null>(null);
  return (
    <>
      <h2 className="mb-3 text-lg font-medium">Tokens</h2>
      <InfiniteTable
        list={tokens}
        rowsOf={(page) => page.embed_tokens}
        failure="The tokens could not be loaded"
        empty={
          <EmptyState
            icon={<AppWindow aria-hidden size={32} />}
            title="There are no embed tokens"
            action={
              <Button tone="primary" onClick={onCreate}>
                Create a token
              </Button>
            }
          >
            The library and the webhooks need a token in a frame, which works for at most a day. Rooms and booking pages
            need none.
          </EmptyState>
        }
        caption="Embed tokens"
        keyOf={(token) => token.id}
        columns={[
          {
            heading: 'Shows',
            className: 'min-w-48',
            cell: (token) => (
              <>
                <span className="font-medium">{describeScope(token)}</span>
                <span className="block text-sm text-muted">by {token.created_by_name}</span>
              </>
            ),
          },
          { heading: 'Label', cell: ({ label_name }) => label_name ?? 'All items' },
          { heading: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
          { heading: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-28 py-1',
            cell: (token) => (
              <Button aria-label={`Revoke: ${describeScope(token)}`} onClick={() => setRevoked(token)}>
                Revoke
              </Button>
            ),
          },
        ]}
      />
      {revoked && <RevokeDialog token={revoked} onClose={() => setRevoked(null)} />}
    </>
  );
}

function RevokeDialog({ token, onClose }: { token: EmbedToken; onClose: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Revoke this token?"
      text="Frames with this token are refused at once. This cannot be undone."
      action="Revoke"
      onConfirm={async () => {
        await client.embedTokens.revoke.mutate({ id, tokenId: token.id });
        await queryClient.invalidateQueries(trpc.embedTokens.pathFilter());
        showSuccess('The token was revoked');
      }}
    />
  );
}
