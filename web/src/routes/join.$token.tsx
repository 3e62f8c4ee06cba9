/** Where an invite link leads: joins its workspace. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, useNavigate } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { trpc } from '../lib/client.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { requireAccount, useAccount } from '../lib/session.ts';
import { showSuccess } from '../lib/toasts.ts';
import { workspaces } from '../lib/workspace.ts';

export const Route = createFileRoute('/join/$token')({ beforeLoad: requireAccount, component: JoinPage });

function JoinPage() {
  const { token } = Route.useParams();
  const me = useAccount();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const join = useMutation(
    trpc.workspaces.join.mutationOptions({
      async onSuccess({ workspace }) {
        await queryClient.invalidateQueries(workspaces);
        showSuccess(`You are now a member of ${workspace.name}`);
        await navigate({ to: FIRST_PAGE, params: { workspaceId: String(workspace.id) }, replace: true });
      },
    }),
  );
  return (
    <SignInFrame title="Join a workspace">
      <p>
        You were invited to a workspace. You join as {me?.name} ({me?.email}).
      </p>
      {join.isError && <ErrorPanel what="Joining the workspace failed" error={join.error} />}
      <Button tone="primary" isPending={join.isPending} onClick={() => join.mutate({ token })}>
        Join the workspace
      </Button>
    </SignInFrame>
  );
}
