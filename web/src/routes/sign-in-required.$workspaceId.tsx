/** Where members get whose session does not satisfy what a workspace requires. Says what to do. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { createFileRoute, Link, notFound, redirect, useRouter } from '@tanstack/react-router';
import { Button, buttonClass } from '../components/Button.tsx';
import { NotFound, PageError } from '../components/ErrorPanel.tsx';
import { IdentityDialog } from '../frame/IdentityDialog.tsx';
import { ProviderButtons } from '../frame/ProviderButtons.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { client, queryClient, trpc } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { providersOptions } from '../lib/providers.ts';
import { askForIdentity } from '../lib/recent-sign-in.ts';
import { requireAccount } from '../lib/session.ts';
import { useWorkspaces, workspaces } from '../lib/workspace.ts';

const secondFactorOptions = trpc.secondFactor.read.queryOptions();

export const Route = createFileRoute('/sign-in-required/$workspaceId')({
  beforeLoad: requireAccount,
  async loader({ params: { workspaceId } }) {
    if (!/^[1-9]\d{0,8}$/.test(workspaceId)) throw notFound();
    try {
      // Read each time: what the session has proven changes without an event.
      const [requirement] = await Promise.all([
        client.workspaces.signInRequirement.query({ id: Number(workspaceId) }),
        queryClient.ensureQueryData(workspaces),
        queryClient.fetchQuery(secondFactorOptions),
        queryClient.prefetchQuery(providersOptions),
      ]);
      if (requirement.satisfied === 0) return requirement;
    } catch (error) {
      if (refusalWith(error, 'NOT_FOUND') || refusalWith(error, 'FORBIDDEN')) throw notFound();
      throw error;
    }
    throw redirect({ to: FIRST_PAGE, params: { workspaceId }, replace: true });
  },
  component: SignInRequiredPage,
  notFoundComponent: NotFound,
  errorComponent: PageError,
});

function SignInRequiredPage() {
  const { required } = Route.useLoaderData();
  const { workspaceId } = Route.useParams();
  const all = useWorkspaces();
  const name = all.find(({ id }) => String(id) === workspaceId)?.name ?? 'This workspace';
  const other = all.find(({ id }) => String(id) !== workspaceId);
  return (
    <SignInFrame title={`${name} requires another sign-in`}>
      {required === 'second_factor' ? <SecondFactor name={name} /> : <Provider name={name} />}
      {other && (
        <p>
          <Link to={FIRST_PAGE} params={{ workspaceId: String(other.id) }} className="link">
            Go to {other.name}
          </Link>
        </p>
      )}
      <IdentityDialog />
    </SignInFrame>
  );
}

function SecondFactor({ name }: { name: string }) {
  const { data } = useQuery(secondFactorOptions);
  const router = useRouter();
  const confirm = useMutation({
    mutationFn: () => askForIdentity(),
    // The loader leads on from here if it was enough.
    onSuccess: () => router.invalidate(),
  });
  const hasFactor = data?.second_factor.enabled === true;
  return (
    <>
      <p>
        The owner of {name} lets in only people who have confirmed who they are with a second factor: a code of an
        authenticator app, or a passkey.
      </p>
      {!hasFactor && (
        <Link to="/account/security" className={buttonClass('primary')}>
          Set up a second factor
        </Link>
      )}
      <Button tone={hasFactor ? 'primary' : 'secondary'} onClick={() => confirm.mutate()}>
        {hasFactor ? 'Confirm with your second factor' : 'I have a passkey'}
      </Button>
      {confirm.isSuccess && <p role="alert">This was no second factor. Use a code or a passkey.</p>}
    </>
  );
}

function Provider({ name }: { name: string }) {
  const { provider } = Route.useLoaderData();
  const { workspaceId } = Route.useParams();
  if (provider === null)
    return <p>The owner of {name} requires a provider that this service no longer has. Ask its operator.</p>;
  return (
    <>
      <p>
        The owner of {name} lets in only people who have signed in with {provider.name}.
      </p>
      <ProviderButtons
        start={(input) => client.openid.start.mutate(input)}
        returnTo={`/w/${workspaceId}`}
        isShown={({ id }) => id === provider.id}
      />
      <p className="text-sm text-muted">
        If your account there has another address, link it first in{' '}
        <Link to="/account/security" className="link">
          Security
        </Link>
        .
      </p>
    </>
  );
}
