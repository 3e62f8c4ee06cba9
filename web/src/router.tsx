import { createRouter } from '@tanstack/react-router';
import { NotFound, PageError } from './components/ErrorPanel.tsx';
import { PageSkeleton } from './components/Skeleton.tsx';
import { queryClient } from './lib/client.ts';
import { routeTree } from './routeTree.gen.ts';

export const router = createRouter({
  routeTree,
  context: { queryClient },
  defaultPreload: 'intent',
  // React Query decides what is fresh.
  defaultPreloadStaleTime: 0,
  defaultPendingComponent: PageSkeleton,
  defaultErrorComponent: PageError,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
