import { useInfiniteQuery } from '@tanstack/react-query';
import { InfiniteTable } from '../../../../components/Table.tsx';
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
  return (
    <InfiniteTable
      list={callbacks}
      rowsOf={(page) => page.unmatched}
      failure="The callbacks could not be loaded"
      empty={<p role="status">All callbacks of the last 30 days matched a room.</p>}
      skeletonRows={3}
      caption="Callbacks that matched nothing"
      keyOf={(callback) => callback.id}
      columns={[
        { heading: 'Event', cell: ({ event }) => <code className="font-mono text-sm">{event}</code> },
        {
          heading: 'Room',
          className: 'min-w-32 wrap-anywhere',
          cell: ({ room, session_id }) => room ?? session_id,
        },
        { heading: 'Reason', className: 'min-w-48', cell: ({ reason }) => reasons[reason] },
        { heading: 'Arrived', cell: ({ received_at }) => <Time at={received_at} /> },
      ]}
    />
  );
}
