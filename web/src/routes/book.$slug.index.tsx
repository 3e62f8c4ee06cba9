/** A booking page, for everybody who has its link. */
import { createFileRoute } from '@tanstack/react-router';
import { BookPage } from './-public/BookPage.tsx';

export const Route = createFileRoute('/book/$slug/')({ component: Page });

function Page() {
  return <BookPage slug={Route.useParams().slug} />;
}
