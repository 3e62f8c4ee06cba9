/** Where an invite link leads: says who invites to which workspace, and joins it. */
import type { Branding } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button, buttonClass } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { GuestFrame } from '../frame/GuestFrame.tsx';
import { GuestLanguage } from '../languages/GuestLanguage.tsx';
import { LanguagePicker } from '../languages/LanguagePicker.tsx';
import { useTexts } from '../languages/texts.ts';
import { type Account, account, client, queryClient, trpc } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { providersOptions, useRegistration } from '../lib/providers.ts';
import { useAccount } from '../lib/session.ts';
import { showSuccess } from '../lib/toasts.ts';
import { workspaces } from '../lib/workspace.ts';

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
  const invite = useQuery(inviteOptions(Route.useParams().token));
  return (
    <GuestLanguage ofWorkspace={invite.data?.branding.language ?? null} fallback={null}>
      <JoinInLanguage />
    </GuestLanguage>
  );
}

function JoinInLanguage() {
  const { write } = useTexts();
  const { token } = Route.useParams();
  const invite = useQuery(inviteOptions(token));
  const me = useAccount();
  if (refusalWith(invite.error, 'NOT_FOUND'))
    return (
      <JoinFrame title={write('join.unknownTitle')}>
        <p>{write('join.unknown')}</p>
        <Link to="/" className={buttonClass('secondary')}>
          {write('page.startPage')}
        </Link>
      </JoinFrame>
    );
  if (!invite.isSuccess)
    return (
      <JoinFrame title={write('join.title')}>
        {invite.isError && (
          <ErrorPanel what={write('join.notOpened')} error={invite.error} onRetry={() => invite.refetch()} />
        )}
      </JoinFrame>
    );
  const { branding, invited_by_name: inviter, workspace_name, is_personal, owner_name: owner } = invite.data;
  const workspace =
    is_personal === 1 ? write('page.nameOfOwner', { owner, workspace: workspace_name }) : workspace_name;
  return (
    <JoinFrame title={write('join.joinName', { workspace })} branding={branding}>
      <p className="wrap-anywhere">{write('join.invites', { inviter, workspace })}</p>
      {me === null ? <SignInFirst token={token} /> : <Join token={token} me={me} name={workspace} />}
    </JoinFrame>
  );
}

type JoinFrameProps = { title: string; branding?: Branding | null; children: ReactNode };

function JoinFrame({ title, branding = null, children }: JoinFrameProps) {
  return (
    <GuestFrame title={title} branding={branding}>
      <LanguagePicker />
      {children}
    </GuestFrame>
  );
}

function Join({ token, me, name }: { token: string; me: Account; name: string }) {
  const { write } = useTexts();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const join = useMutation(
    trpc.workspaces.join.mutationOptions({
      async onSuccess({ workspace }) {
        await queryClient.invalidateQueries(workspaces);
        showSuccess(write('join.joined', { workspace: name }));
        await navigate({ to: FIRST_PAGE, params: { workspaceId: String(workspace.id) }, replace: true });
      },
    }),
  );
  return (
    <>
      <p className="wrap-anywhere">{write('join.joinAs', { name: me.name, email: me.email })}</p>
      {join.isError && <ErrorPanel what={write('join.failed')} error={join.error} />}
      <Button tone="primary" isPending={join.isPending} onClick={() => join.mutate({ token })}>
        {write('join.join')}
      </Button>
    </>
  );
}

function SignInFirst({ token }: { token: string }) {
  const { write } = useTexts();
  const registration = useRegistration();
  const search = { next: `/join/${token}` };
  return (
    <div className="flex flex-col gap-2">
      <Link to="/" search={search} className={buttonClass('primary')}>
        {write('page.signIn')}
      </Link>
      {registration !== 'closed' && (
        <Link to="/register" search={search} className={buttonClass('secondary')}>
          {write('join.createAccount')}
        </Link>
      )}
    </div>
  );
}
