import { useMutation, useQuery } from '@tanstack/react-query';
import { createFileRoute, Link, useLocation, useNavigate } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { ProviderButtons } from '../frame/ProviderButtons.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { client, queryClient, trpc } from '../lib/client.ts';
import { providersOptions, useIsFirstAccount, useRegistration } from '../lib/providers.ts';
import { invitationOf, isInvitation, startSession, toSafePath } from '../lib/session.ts';

export const Route = createFileRoute('/register')({
  validateSearch: (search: Record<string, unknown>): { next?: string } =>
    typeof search.next === 'string' ? { next: search.next } : {},
  // If the providers cannot be loaded, their buttons are missing.
  loader: () => queryClient.prefetchQuery(providersOptions),
  component: RegisterPage,
});

function RegisterPage() {
  const search = Route.useSearch();
  const navigate = useNavigate();
  const registration = useRegistration();
  const domains = useQuery(providersOptions).data?.registration_domains ?? [];
  const isFirst = useIsFirstAccount();
  const invitation = invitationOf(search.next);
  // After `#`, which browsers do not send.
  const setupToken = new URLSearchParams(useLocation().hash).get('setup_token');
  const byDomain = registration === 'invited' && domains.length > 0;
  const awaitsConfirmation = byDomain && invitation === null && !isFirst && setupToken === null;
  const register = useMutation(
    trpc.auth.register.mutationOptions({
      onSuccess({ user }) {
        // Whether there is an account is no longer what it was.
        void queryClient.invalidateQueries(providersOptions);
        // Only the domain of the address admits: nothing else works until the person has confirmed it.
        if (awaitsConfirmation) return;
        startSession(user);
        return navigate({ to: '/', search });
      },
    }),
  );

  function submit(values: FormData): void {
    const read = (name: string) => String(values.get(name));
    register.mutate({
      name: read('name'),
      email: read('email'),
      password: read('password'),
      ...(invitation !== null && { invitation }),
      ...(setupToken !== null && { setup_token: setupToken }),
    });
  }

  const isAdmitted = registration === 'open' || byDomain || (registration === 'invited' && invitation !== null);
  if (!isAdmitted && !isFirst && setupToken === null)
    return (
      <SignInFrame title="Create an account">
        <p>
          {registration === 'closed'
            ? 'This service takes no new accounts. Ask its operator.'
            : 'This service takes new accounts by invitation only: open the link of your invitation.'}
        </p>
        <p>
          <Link to="/" search={search} className="link">
            Sign in
          </Link>
        </p>
      </SignInFrame>
    );

  if (register.isSuccess && awaitsConfirmation)
    return (
      <SignInFrame title="Confirm your address">
        <p role="status">
          A link was sent to {register.data.user.email}. Open it within a day to confirm that the address is yours: your
          account works from then on.
        </p>
      </SignInFrame>
    );

  return (
    <SignInFrame title="Create an account">
      {isInvitation(search.next) && <p>You were invited to a workspace. Create an account to join it.</p>}
      {awaitsConfirmation && <p>Without an invitation, your address must end in @{domains.join(' or @')}.</p>}
      <Form onSubmit={submit} error={register.error}>
        <TextField name="name" label="Name" autoComplete="name" maxLength={100} required />
        <TextField name="email" label="Email" type="email" autoComplete="username" required />
        <TextField
          name="password"
          label="Password"
          hint="8 to 200 characters"
          type="password"
          autoComplete="new-password"
          minLength={8}
          maxLength={200}
          required
        />
        <Button type="submit" tone="primary" isPending={register.isPending}>
          Create account
        </Button>
      </Form>
      <div className="flex flex-col gap-2 empty:hidden">
        <ProviderButtons
          start={(input) => client.openid.start.mutate(input)}
          returnTo={toSafePath(search.next) ?? '/'}
        />
      </div>
      <p>
        Already have an account?{' '}
        <Link to="/" search={search} className="link">
          Sign in
        </Link>
      </p>
    </SignInFrame>
  );
}
