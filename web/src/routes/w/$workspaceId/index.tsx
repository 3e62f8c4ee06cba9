import { createFileRoute, redirect } from '@tanstack/react-router';
import { FIRST_PAGE } from '../../../lib/first-page.ts';

export const Route = createFileRoute('/w/$workspaceId/')({
  beforeLoad({ params }) {
    throw redirect({ to: FIRST_PAGE, params, replace: true });
  },
});
