/** One booking, for the guest who has its link: confirm it, look at it, move it, cancel it. */
import { useMutation } from '@tanstack/react-query';
import { createFileRoute, useRouterState } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { GuestFrame } from '../frame/GuestFrame.tsx';
import { trpc } from '../lib/client.ts';
import { ManageBooking } from './-public/ManageBooking.tsx';
import { useBranding } from './-public/use-branding.ts';

export const Route = createFileRoute('/book/$slug/booking')({ component: BookingPage });

function BookingPage() {
  const { slug } = Route.useParams();
  // In the fragment, which is sent to no server.
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const token = new URLSearchParams(hash).get('token') ?? '';
  // The link of the mail that asks for a confirmation has a token of its own.
  const confirms = token.startsWith('lnm_');
  return (
    <GuestFrame title={confirms ? 'Confirm your meeting' : 'Your meeting'} branding={useBranding(slug)}>
      {confirms ? <Confirm slug={slug} token={token} /> : <ManageBooking slug={slug} token={token} />}
    </GuestFrame>
  );
}

/** Requires a click by a person, because programs open the links in mail to look for malware. */
function Confirm({ slug, token }: { slug: string; token: string }) {
  const confirm = useMutation(trpc.bookings.confirm.mutationOptions());
  if (confirm.isSuccess) {
    const { hash } = new URL(confirm.data.booking.manage_url, location.href);
    return (
      <>
        <p role="status">The meeting is confirmed.</p>
        <ManageBooking slug={slug} token={new URLSearchParams(hash.slice(1)).get('token') ?? ''} />
      </>
    );
  }
  return (
    <>
      <p>The meeting takes place only if you confirm it.</p>
      {confirm.isError && <ErrorPanel what="The meeting was not confirmed" error={confirm.error} />}
      <Button tone="primary" isPending={confirm.isPending} onClick={() => confirm.mutate({ slug, token })}>
        Confirm the meeting
      </Button>
    </>
  );
}
