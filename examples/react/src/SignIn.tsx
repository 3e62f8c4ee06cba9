import { useMutation, useQueryClient } from '@tanstack/react-query';
import { account, trpc } from './lynxroom.ts';

export function SignIn() {
  const queryClient = useQueryClient();
  const login = useMutation(
    trpc.auth.login.mutationOptions({
      onSuccess({ user }) {
        // Removes the data of the previous user from the cache. No component shows it anymore.
        queryClient.removeQueries({ type: 'inactive' });
        queryClient.setQueryData(account.queryKey, user);
      },
    }),
  );

  function submit(form: FormData): void {
    login.mutate({ email: String(form.get('email')), password: String(form.get('password')) });
  }

  return (
    <form action={submit}>
      <h1>Sign in</h1>
      <label>
        Email <input name="email" type="email" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit" disabled={login.isPending}>
        Sign in
      </button>
      {login.error && <p role="alert">{login.error.message}</p>}
    </form>
  );
}
