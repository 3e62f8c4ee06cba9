/** Where an invite link leads: says who invites to which workspace, and joins it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { Button, buttonClass } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { type Account, account, client, queryClient, trpc } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { providersOptions, useRegistration } from '../lib/providers.ts';
import { useAccount } from '../lib/session.ts';
import { showSuccess } from '../lib/toasts.ts';
import { workspaces } from '../lib/workspace.ts';
import { toWorkspaceName } from '../lib/workspace-name.ts';

// The lookup changes nothing. It is a POST only so that the token stays out of logs.
const inviteOptions = (token: string) => ({
  queryKey: ['invite', token],
  queryFn: async () => (await client.workspaces.lookUpInvite.mutate({ token })).invite,
  retryOnMount: false,
});

export const Route = createFileRoute('/join/$token')({
  loader: ({ params: { token } }) =>
    Promise.all([
      queryClient.ensureQueryData(account),
      queryClient.prefetchQuery(inviteOptions(token)),
      queryClient.prefetchQuery(providersOptions),
    ]),
  component: JoinPage,
});

function JoinPage() {
  const { token } = Route.useParams();
  const invite = useQuery(inviteOptions(token));
  const me = useAccount();
  if (refusalWith(invite.error, 'NOT_FOUND'))
    return (
      <SignInFrame title="This link does not work (any more)">
        <p>The invite link was revoked, or it is not complete. Ask the person who sent it for a new one.</p>
        <Link to="/" className={buttonClass('secondary')}>
          Go to the start page
        </Link>
      </SignInFrame>
    );
  if (!invite.isSuccess)
    return (
      <SignInFrame title="Join a workspace">
        {invite.isError && (
          <ErrorPanel what="This link could not be opened" error={invite.error} onRetry={() => invite.refetch()} />
        )}
      </SignInFrame>
    );
  const { invited_by_name: inviter, ...workspace } = invite.data;
  const name = toWorkspaceName({ ...workspace, name: workspace.workspace_name });
  return (
    <SignInFrame title={`Join ${name}`}>
      <p className="wrap-anywhere">
        {inviter} invites you to the workspace {name}.
      </p>
      {me === null ? <SignInFirst token={token} /> : <Join token={token} me={me} />}
    </SignInFrame>
  );
}

function Join({ token, me }: { token: string; me: Account }) {
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
    <>
      <p className="wrap-anywhere">
        You join as {me.name} ({me.email}).
      </p>
      {join.isError && <ErrorPanel what="Joining the workspace failed" error={join.error} />}
      <Button tone="primary" isPending={join.isPending} onClick={() => join.mutate({ token })}>
        Join the workspace
      </Button>
    </>
  );
}

function SignInFirst({ token }: { token: string }) {
  const registration = useRegistration();
  const search = { next: `/join/${token}` };
  return (
    <div className="flex flex-col gap-2">
      <Link to="/" search={search} className={buttonClass('primary')}>
        Sign in
      </Link>
      {registration !== 'closed' && (
        <Link to="/register" search={search} className={buttonClass('secondary')}>
          Create an account
        </Link>
      )}
    </div>
  );
}
