/** Where the cancellation link of a booking leads. */
import { createFileRoute } from '@tanstack/react-router';
import { GuestFrame } from '../frame/GuestFrame.tsx';
import { ManageBooking } from './-public/ManageBooking.tsx';
import { useBranding } from './-public/use-branding.ts';

export const Route = createFileRoute('/book/$slug/cancel')({
  validateSearch: ({ token }: Record<string, unknown>) => ({ token: typeof token === 'string' ? token : '' }),
  component: CancelPage,
});

function CancelPage() {
  const { slug } = Route.useParams();
  const { token } = Route.useSearch();
  return (
    <GuestFrame title="Your meeting" branding={useBranding(slug)}>
      <ManageBooking slug={slug} token={token} />
    </GuestFrame>
  );
}
