import { useMutation } from '@tanstack/react-query';
import { createFileRoute, Link, redirect, useRouter } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, buttonClass } from '../components/Button.tsx';
import { ErrorNote } from '../components/ErrorPanel.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { ProviderButtons } from '../frame/ProviderButtons.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { type Account, account, client, queryClient } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { isLocal } from '../lib/is-local.ts';
import { askForPasskey, hasPasskeys } from '../lib/passkeys.ts';
import { providersOptions, useIsFirstAccount, useRegistration } from '../lib/providers.ts';
import { isInvitation, startSession, toSafePath } from '../lib/session.ts';
import { pickWorkspace, workspaces } from '../lib/workspace.ts';

type Search = {
  /** Where to go after signing in. */
  next?: string;
  /** Whether a session has ended, but the user has not signed out. */
  ended?: boolean;
};

export const Route = createFileRoute('/')({
  validateSearch: (search: Record<string, unknown>): Search => ({
    ...(typeof search.next === 'string' && { next: search.next }),
    ...(search.ended === true && { ended: true }),
  }),
  async beforeLoad({ search: { next } }) {
    // In one request: calls made at the same time are batched. If the providers cannot be loaded, their buttons are
    // missing.
    const [user] = await Promise.all([
      queryClient.ensureQueryData(account),
      queryClient.prefetchQuery(providersOptions),
    ]);
    if (user === null) return;
    const path = toSafePath(next);
    if (path !== null) throw redirect({ href: path, replace: true });
    const own = await queryClient.ensureQueryData(workspaces).catch((error: unknown) => {
      throw refusalWith(error, 'EMAIL_NOT_CONFIRMED') ? redirect({ to: '/confirm-email', replace: true }) : error;
    });
    const workspace = pickWorkspace(own);
    if (workspace === null) throw redirect({ to: '/new-workspace', replace: true });
    throw redirect({ to: FIRST_PAGE, params: { workspaceId: String(workspace.id) }, replace: true });
  },
  component: SignInPage,
});

function SignInPage() {
  const { next, ended } = Route.useSearch();
  const registration = useRegistration();
  const isFirst = useIsFirstAccount();
  const [needsCode, setNeedsCode] = useState(false);
  const onSuccess = useSignedIn();
  const signIn = useMutation({
    mutationFn: (input: { email: string; password: string; code?: string }) => client.auth.login.mutate(input),
    onSuccess,
    onError(error) {
      if (refusalWith(error, 'SECOND_FACTOR_REQUIRED')) setNeedsCode(true);
    },
  });
  // The form asks for the code in a separate field, so this is not shown as an error.
  const error = refusalWith(signIn.error, 'SECOND_FACTOR_REQUIRED') ? null : signIn.error;

  function submit(values: FormData): void {
    const code = String(values.get('code') ?? '');
    const [email, password] = [String(values.get('email')), String(values.get('password'))];
    signIn.mutate({ email, password, ...(code !== '' && { code }) });
  }

  if (isFirst)
    return (
      <SignInFrame title="Welcome to Lynxroom">
        <About>Nobody has an account here yet: the first one is yours. </About>
        <Link to="/register" className={buttonClass('primary')}>
          Create the first account
        </Link>
      </SignInFrame>
    );

  return (
    <SignInFrame title="Sign in">
      <About>{isLocal && 'If you have just started it here, your terminal shows a link that signs you in. '}</About>
      {ended && <p role="status">Your session has ended. Sign in to continue where you left off.</p>}
      {isInvitation(next) && <p>You were invited to a workspace. Sign in, or create an account, to join it.</p>}
      <Form onSubmit={submit} error={error}>
        <TextField name="email" label="Email" type="email" autoComplete="username" required />
        <TextField name="password" label="Password" type="password" autoComplete="current-password" required />
        {needsCode && (
          <TextField
            name="code"
            label="Code"
            hint="From your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            autoFocus
            required
          />
        )}
        <Button type="submit" tone="primary" isPending={signIn.isPending}>
          Sign in
        </Button>
      </Form>
      <div className="flex flex-col gap-2 empty:hidden">
        <PasskeyButton />
        <ProviderButtons start={(input) => client.openid.start.mutate(input)} returnTo={toSafePath(next) ?? '/'} />
      </div>
      <p>
        <Link to="/forgot-password" className="link">
          Forgot your password?
        </Link>
      </p>
      {registration !== 'closed' && (
        <p>
          No account yet?{' '}
          <Link to="/register" search={next === undefined ? {} : { next }} className="link">
            Create one
          </Link>
        </p>
      )}
    </SignInFrame>
  );
}

function About({ children }: { children: ReactNode }) {
  return (
    <p className="text-muted">
      Lynxroom is where a team meets in the browser, records, shares its files, and lets guests book. {children}
      Read the{' '}
      <a href="/docs/guides" className="link">
        guides
      </a>{' '}
      and the{' '}
      <a href="/docs" className="link">
        API reference
      </a>
      .
    </p>
  );
}

function PasskeyButton() {
  const onSuccess = useSignedIn();
  const signIn = useMutation({
    async mutationFn() {
      const { options } = await client.passkeys.startSignIn.mutate();
      return client.passkeys.signIn.mutate({ response: await askForPasskey(options) });
    },
    onSuccess,
  });
  if (!hasPasskeys()) return null;
  return (
    <>
      {signIn.error && <ErrorNote error={signIn.error} />}
      <Button icon={<KeyRound aria-hidden size={18} />} isPending={signIn.isPending} onClick={() => signIn.mutate()}>
        Use a passkey
      </Button>
    </>
  );
}

/** Returns a function that stores a new session. The route then redirects. */
function useSignedIn() {
  const router = useRouter();
  return ({ user }: { user: Account }) => {
    startSession(user);
    return router.invalidate();
  };
}
