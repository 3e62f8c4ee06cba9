/** The address under which calendar programs read the bookings of the user. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { Dialog, DialogActions } from '../../../../components/Dialog.tsx';
import { ErrorNote, ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { withRecentSignIn } from '../../../../lib/recent-sign-in.ts';

export function CalendarFeedDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      title="Your calendar feed"
      description="An address that your calendar program can subscribe to. It has the upcoming bookings of which you are the host, in all workspaces."
    >
      <CalendarFeed />
    </Dialog>
  );
}

function CalendarFeed() {
  const queryClient = useQueryClient();
  const feed = useQuery(trpc.calendarFeed.read.queryOptions());
  const create = useMutation({
    mutationFn: () => withRecentSignIn(() => client.calendarFeed.create.mutate()),
    onMutate: () => remove.reset(),
    onSuccess: ({ feed: { created_at } }) =>
      queryClient.setQueryData(trpc.calendarFeed.read.queryKey(), { feed: { created_at } }),
  });
  const remove = useMutation(
    trpc.calendarFeed.delete.mutationOptions({
      onSuccess() {
        create.reset();
        queryClient.setQueryData(trpc.calendarFeed.read.queryKey(), { feed: null });
      },
    }),
  );
  const url = create.data?.feed.url ?? null;
  const error = remove.error ?? create.error;

  if (feed.isPending) return <SkeletonRows count={2} />;
  if (feed.isError) {
    return <ErrorPanel what="The feed could not be loaded" error={feed.error} onRetry={() => feed.refetch()} />;
  }
  const existing = feed.data.feed;
  return (
    <>
      {error !== null && <ErrorNote error={error} />}
      <div role="status" className="flex flex-col gap-3">
        {existing === null && <p>You have no feed.</p>}
        {existing !== null && url === null && (
          <p>
            Created <Time at={existing.created_at} />. Its address is not shown again. If you have lost it, create a new
            one: the old address then stops working.
          </p>
        )}
        {url !== null && <p>Copy the address now. It is not shown again. Anyone who has it can read your bookings.</p>}
      </div>
      {url !== null && (
        <div className="flex items-center gap-2">
          <input
            readOnly
            aria-label="Address of the feed"
            value={url}
            onFocus={(event) => event.target.select()}
            className="h-10 min-w-0 grow rounded-lg border border-control-line bg-panel px-3 font-mono text-sm"
          />
          <CopyButton text={url} label="Copy the address" />
        </div>
      )}
      <DialogActions>
        {existing !== null && (
          <Button isPending={remove.isPending} onClick={() => remove.mutate()}>
            Switch the feed off
          </Button>
        )}
        <Button
          tone={existing === null ? 'primary' : 'secondary'}
          isPending={create.isPending}
          onClick={() => create.mutate()}
        >
          {existing === null ? 'Create the feed' : 'New address'}
        </Button>
      </DialogActions>
    </>
  );
}
