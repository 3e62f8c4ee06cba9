/** Where people wait whose account works once they have confirmed its address. */
import { useMutation } from '@tanstack/react-query';
import { createFileRoute, useRouter } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { ErrorNote, PageError } from '../components/ErrorPanel.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { client } from '../lib/client.ts';
import { requireAccount, signOut, useAccount } from '../lib/session.ts';

export const Route = createFileRoute('/confirm-email')({
  beforeLoad: requireAccount,
  component: ConfirmEmailPage,
  errorComponent: PageError,
});

function ConfirmEmailPage() {
  const account = useAccount();
  const router = useRouter();
  const resend = useMutation({ mutationFn: () => client.emails.resend.mutate() });
  const leave = useMutation({ mutationFn: signOut, onSuccess: () => router.navigate({ to: '/' }) });
  return (
    <SignInFrame title="Confirm your email address">
      <p>
        Your account works once you have opened the link that was sent to <strong>{account?.email}</strong>.
      </p>
      {resend.error !== null && <ErrorNote error={resend.error} />}
      {resend.isSuccess && <p role="status">Another link is on its way.</p>}
      <div className="flex flex-wrap gap-2">
        <Button tone="primary" isPending={resend.isPending} onClick={() => resend.mutate()}>
          Send another link
        </Button>
        {/* The first page leads here again as long as the account waits. */}
        <Button onClick={() => void router.navigate({ to: '/' })}>I have confirmed it</Button>
        <Button isPending={leave.isPending} onClick={() => leave.mutate()}>
          Sign out
        </Button>
      </div>
    </SignInFrame>
  );
}
