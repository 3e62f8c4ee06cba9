import { type QueryClient, useQuery } from '@tanstack/react-query';
import { createRootRouteWithContext, Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Toasts } from '../components/Toasts.tsx';
import { account } from '../lib/client.ts';
import { isEndedByUser } from '../lib/session.ts';

export const Route = createRootRouteWithContext<{ queryClient: QueryClient }>()({ component: Root });

function Root() {
  useSessionEnd();
  return (
    <>
      <Outlet />
      <Toasts />
    </>
  );
}

/** Leads to the sign-in form if the session ends while a page is shown, and from there back to the page. */
function useSessionEnd(): void {
  const navigate = useNavigate();
  const router = useRouter();
  const { data: user } = useQuery({ ...account, enabled: false });
  const wasSignedIn = useRef(false);
  useEffect(() => {
    const hasEnded = wasSignedIn.current && user === null && !isEndedByUser();
    wasSignedIn.current = Boolean(user);
    if (hasEnded) void navigate({ to: '/', search: { next: router.state.location.href, ended: true } });
  }, [user, navigate, router]);
}
