import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { signOut } from '../lib/session.ts';
import { showError } from '../lib/toasts.ts';

/** Returns what ends the session, and then leads to the sign-in form. */
export function useSignOut(): () => void {
  const navigate = useNavigate();
  const { mutate } = useMutation({
    mutationFn: signOut,
    onSuccess: () => navigate({ to: '/' }),
    onError: (error) => showError('Could not sign out', error),
  });
  return mutate;
}
