import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '../../../../components/Button.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { Table } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';

const PAGE_SIZE = 20;

const reasons = {
  unknown_room: 'No room here has this name or session',
  unknown_participant: 'The participant left without having joined',
} as const;

/** The callbacks of a connection that changed nothing, and why. */
export function Unmatched({ connectionId }: { connectionId: number }) {
  const id = useWorkspaceId();
  const callbacks = useInfiniteQuery(
    trpc.connections.listUnmatched.infiniteQueryOptions(
      { id, connectionId, limit: PAGE_SIZE },
      { getNextPageParam: (page) => page.next_cursor },
    ),
  );
  if (callbacks.isPending) return <SkeletonRows count={3} />;
  if (callbacks.isError) {
    return (
      <ErrorPanel
        what="The callbacks could not be loaded"
        error={callbacks.error}
        onRetry={() => callbacks.refetch()}
      />
    );
  }
  const rows = callbacks.data.pages.flatMap((page) => page.unmatched);
  if (rows.length === 0) return <p role="status">All callbacks of the last 30 days matched a room.</p>;
  return (
    <>
      <Table
        caption="Callbacks that matched nothing"
        rows={rows}
        keyOf={(callback) => callback.id}
        columns={[
          { heading: 'Event', cell: ({ event }) => <code className="font-mono text-sm">{event}</code> },
          {
            ...{ heading: 'Room', className: 'min-w-32 wrap-anywhere' },
            cell: ({ room, session_id }) => room ?? session_id,
          },
          { ...{ heading: 'Reason', className: 'min-w-48' }, cell: ({ reason }) => reasons[reason] },
          { heading: 'Arrived', cell: ({ received_at }) => <Time at={received_at} /> },
        ]}
      />
      {callbacks.hasNextPage && (
        <p className="text-center">
          <Button isPending={callbacks.isFetchingNextPage} onClick={() => callbacks.fetchNextPage()}>
            Show more
          </Button>
        </p>
      )}
    </>
  );
}
