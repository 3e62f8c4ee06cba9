/** The workspaces of colleagues that a person may join by the domain of their address. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { ErrorNote, ErrorPanel } from '../components/ErrorPanel.tsx';
import { client } from '../lib/client.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { joinableOptions } from '../lib/joinable.ts';
import { showSuccess } from '../lib/toasts.ts';
import { workspaces } from '../lib/workspace.ts';

/** Nothing, if there are none. Load `joinableOptions` before, so that nothing below it moves. */
export function JoinableWorkspaces({ onJoined }: { onJoined?: () => void }) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  const joinable = useQuery(joinableOptions);
  const join = useMutation({
    mutationFn: (id: number) => client.workspaces.joinByDomain.mutate({ id }),
    async onSuccess({ workspace }) {
      await Promise.all([queryClient.invalidateQueries(workspaces), queryClient.invalidateQueries(joinableOptions)]);
      showSuccess(`You are now a member of ${workspace.name}`);
      await navigate({ to: FIRST_PAGE, params: { workspaceId: String(workspace.id) } });
      onJoined?.();
    },
  });
  if (joinable.isError)
    return (
      <ErrorPanel
        what="The workspaces that you can join could not be loaded"
        error={joinable.error}
        onRetry={() => joinable.refetch()}
      />
    );
  if (!joinable.data?.workspaces.length) return null;
  return (
    <section aria-label="Workspaces you can join" className="mb-6 rounded-xl border border-line p-4 sm:p-5">
      <h2 className="text-lg font-semibold">Workspaces you can join</h2>
      <p className="text-muted">Their owners let people with an address of your domain in.</p>
      {join.isError && <ErrorNote error={join.error} />}
      <ul className="m-0 mt-3 list-none p-0">
        {joinable.data.workspaces.map(({ id, name, owner_name }) => (
          <li
            key={id}
            className="flex min-h-12 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-t border-line py-2"
          >
            <span className="min-w-0 wrap-anywhere">
              <span className="font-medium">{name}</span>
              <span className="block text-sm text-muted">Owned by {owner_name}</span>
            </span>
            <Button
              size="small"
              tone="primary"
              aria-label={`Join ${name}`}
              isPending={join.isPending && join.variables === id}
              onClick={() => join.mutate(id)}
            >
              Join
            </Button>
          </li>
        ))}
      </ul>
      {joinable.data.next_cursor !== undefined && <p className="text-muted">There are more.</p>}
    </section>
  );
}
