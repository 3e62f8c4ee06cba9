import { useMutation } from '@tanstack/react-query';
import { createFileRoute, Link, redirect, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../components/Button.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { account, client, queryClient } from '../lib/client.ts';
import { refusalWith } from '../lib/errors.ts';
import { startSession, toSafePath } from '../lib/session.ts';
import { pickWorkspace, workspaces } from '../lib/workspace.ts';
import { FIRST_PAGE } from '../navigation.ts';

type Search = {
  /** Where to go after signing in. */
  next?: string;
  /** Whether a session has ended by itself. */
  ended?: boolean;
};

export const Route = createFileRoute('/')({
  validateSearch: (search: Record<string, unknown>): Search => ({
    ...(typeof search.next === 'string' && { next: search.next }),
    ...(search.ended === true && { ended: true }),
  }),
  async beforeLoad({ search: { next } }) {
    if ((await queryClient.ensureQueryData(account)) === null) return;
    const path = toSafePath(next);
    if (path !== null) throw redirect({ href: path, replace: true });
    const workspace = pickWorkspace(await queryClient.ensureQueryData(workspaces));
    if (workspace === null) throw redirect({ to: '/new-workspace', replace: true });
    throw redirect({ to: FIRST_PAGE, params: { workspaceId: String(workspace.id) }, replace: true });
  },
  component: SignInPage,
});

function SignInPage() {
  const { next, ended } = Route.useSearch();
  const [needsCode, setNeedsCode] = useState(false);
  const router = useRouter();
  const signIn = useMutation({
    mutationFn: (input: { email: string; password: string; code?: string }) => client.auth.login.mutate(input),
    onSuccess({ user }) {
      startSession(user);
      // The route now leads on.
      return router.invalidate();
    },
    onError(error) {
      if (refusalWith(error, 'SECOND_FACTOR_REQUIRED')) setNeedsCode(true);
    },
  });
  // The code is asked for in a field of its own, which is no error.
  const error = refusalWith(signIn.error, 'SECOND_FACTOR_REQUIRED') ? null : signIn.error;

  function submit(values: FormData): void {
    const code = String(values.get('code') ?? '');
    const [email, password] = [String(values.get('email')), String(values.get('password'))];
    signIn.mutate({ email, password, ...(code !== '' && { code }) });
  }

  return (
    <SignInFrame title="Sign in">
      {ended && <p role="status">Your session has ended. Sign in to go on where you were.</p>}
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
      <p>
        No account yet?{' '}
        <Link to="/register" search={next === undefined ? {} : { next }} className="link">
          Create one
        </Link>
      </p>
    </SignInFrame>
  );
}
