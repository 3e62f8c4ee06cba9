/** One booking, for the guest who has its link: confirm it, look at it, move it, cancel it. */
import { useMutation } from '@tanstack/react-query';
import { createFileRoute, useRouterState } from '@tanstack/react-router';
import { Button } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { useTexts } from '../languages/texts.ts';
import { trpc } from '../lib/client.ts';
import { GuestPage } from './-public/GuestPage.tsx';
import { ManageBooking } from './-public/ManageBooking.tsx';

export const Route = createFileRoute('/book/$slug/booking')({ component: BookingPage });

function BookingPage() {
  const { slug } = Route.useParams();
  // In the fragment, which is sent to no server.
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const token = new URLSearchParams(hash).get('token') ?? '';
  // The link of the mail that asks for a confirmation has a token of its own.
  const confirms = token.startsWith('lnm_');
  return (
    <GuestPage slug={slug} title={(write) => write(confirms ? 'book.confirmTitle' : 'book.yourMeeting')}>
      {confirms ? <Confirm slug={slug} token={token} /> : <ManageBooking slug={slug} token={token} />}
    </GuestPage>
  );
}

/** Requires a click by a person, because programs open the links in mail to look for malware. */
function Confirm({ slug, token }: { slug: string; token: string }) {
  const { write } = useTexts();
  const confirm = useMutation(trpc.bookings.confirm.mutationOptions());
  if (confirm.isSuccess) {
    const { hash } = new URL(confirm.data.booking.manage_url, location.href);
    return (
      <>
        <p role="status">{write('book.isConfirmed')}</p>
        <ManageBooking slug={slug} token={new URLSearchParams(hash.slice(1)).get('token') ?? ''} />
      </>
    );
  }
  return (
    <>
      <p>{write('book.confirmNeeded')}</p>
      {confirm.isError && <ErrorPanel what={write('book.confirmFailed')} error={confirm.error} />}
      <Button tone="primary" isPending={confirm.isPending} onClick={() => confirm.mutate({ slug, token })}>
        {write('book.confirm')}
      </Button>
    </>
  );
}
