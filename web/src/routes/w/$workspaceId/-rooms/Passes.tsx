import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button } from '../../../../components/Button.tsx';
import { ConfirmDialog } from '../../../../components/Dialog.tsx';
import { InfiniteTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

type Pass = Outputs['participants']['listPasses']['passes'][number];

const PAGE_SIZE = 20;

export function passesOptions(id: number, roomName: string) {
  return trpc.participants.listPasses.infiniteQueryOptions(
    { id, roomName, limit: PAGE_SIZE },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

/** The passes of a room that have not expired. Needs the role admin. */
export function Passes({ roomName }: { roomName: string }) {
  const [revoked, setRevoked] = useState<Pass | null>(null);
  const list = useInfiniteQuery({ ...passesOptions(useWorkspaceId(), roomName), refetchInterval: LIVE_POLL_MS });
  return (
    <section aria-label="Passes for the room">
      <h2 className="mb-2 text-lg font-semibold">Passes</h2>
      <InfiniteTable
        list={list}
        rowsOf={(page) => page.passes}
        failure="The passes could not be loaded"
        empty={
          <p className="text-muted">
            Nobody has a pass for this room. Your server makes passes for people of your own product:{' '}
            <a href="/docs/guides/embedding" className="link">
              Put a room into your product
            </a>
            .
          </p>
        }
        skeletonRows={2}
        more="Show more passes"
        caption="Passes"
        keyOf={({ id }) => id}
        columns={[
          {
            heading: 'Person',
            className: 'min-w-48',
            cell: ({ name, external_id, is_host }) => (
              <>
                <span className="font-medium wrap-anywhere">{name}</span> {is_host === 1 && <Badge>Host</Badge>}
                {external_id !== null && <span className="block text-sm wrap-anywhere text-muted">{external_id}</span>}
              </>
            ),
          },
          {
            heading: 'Link',
            className: 'whitespace-nowrap',
            cell: ({ is_used }) => (is_used === 1 ? 'Used' : 'Not used yet'),
          },
          {
            heading: 'Created',
            cell: ({ created_at, created_by_name }) => (
              <>
                <Time at={created_at} />
                <span className="block text-sm wrap-anywhere text-muted">
                  by {created_by_name ?? 'somebody whose account was deleted'}
                </span>
              </>
            ),
          },
          { heading: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-28 py-1',
            cell: (pass) => (
              <Button aria-label={`Revoke the pass of ${pass.name}`} onClick={() => setRevoked(pass)}>
                Revoke
              </Button>
            ),
          },
        ]}
      />
      {revoked && <RevokeDialog roomName={roomName} pass={revoked} onClose={() => setRevoked(null)} />}
    </section>
  );
}

type RevokeDialogProps = { roomName: string; pass: Pass; onClose: () => void };

function RevokeDialog({ roomName, pass, onClose }: RevokeDialogProps) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Revoke the pass of ${pass.name}?`}
      text="Its link no longer works, and a person who used it cannot come back. A visit that has begun goes on, without the rights of a host: remove the person to end it. This cannot be undone."
      action="Revoke"
      onConfirm={async () => {
        await client.participants.revokePass.mutate({ id, roomName, passId: pass.id });
        await queryClient.invalidateQueries(trpc.participants.listPasses.pathFilter());
        showSuccess('The pass was revoked');
      }}
    />
  );
}
