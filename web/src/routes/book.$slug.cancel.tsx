/** Where the cancellation link of a booking leads. */
import { createFileRoute } from '@tanstack/react-router';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { ManageBooking } from './-public/ManageBooking.tsx';

export const Route = createFileRoute('/book/$slug/cancel')({
  validateSearch: ({ token }: Record<string, unknown>) => ({ token: typeof token === 'string' ? token : '' }),
  component: CancelPage,
});

function CancelPage() {
  const { slug } = Route.useParams();
  const { token } = Route.useSearch();
  return (
    <SignInFrame title="Your meeting">
      <ManageBooking slug={slug} token={token} />
    </SignInFrame>
  );
}
