/** One booking, for the guest who has its link: look at it, move it, cancel it. */
import { createFileRoute, useRouterState } from '@tanstack/react-router';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { ManageBooking } from './-public/ManageBooking.tsx';

export const Route = createFileRoute('/book/$slug/booking')({ component: BookingPage });

function BookingPage() {
  const { slug } = Route.useParams();
  // In the fragment, which is sent to no server.
  const hash = useRouterState({ select: ({ location }) => location.hash });
  return (
    <SignInFrame title="Your meeting">
      <ManageBooking slug={slug} token={new URLSearchParams(hash).get('token') ?? ''} />
    </SignInFrame>
  );
}
