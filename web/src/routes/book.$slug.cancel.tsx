/** Where the cancellation link of a booking leads. */
import { createFileRoute } from '@tanstack/react-router';
import { GuestPage } from './-public/GuestPage.tsx';
import { ManageBooking } from './-public/ManageBooking.tsx';

export const Route = createFileRoute('/book/$slug/cancel')({
  validateSearch: ({ token }: Record<string, unknown>) => ({ token: typeof token === 'string' ? token : '' }),
  component: CancelPage,
});

function CancelPage() {
  const { slug } = Route.useParams();
  const { token } = Route.useSearch();
  return (
    <GuestPage slug={slug} title={(write) => write('book.yourMeeting')}>
      <ManageBooking slug={slug} token={token} />
    </GuestPage>
  );
}
