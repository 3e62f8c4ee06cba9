/** The table of rooms: every operation but the upload is a procedure of one of these. */
import { router } from '../trpc.ts';
import { authRouter } from './auth/router.ts';
import { labelsRouter } from './labels/router.ts';
import { libraryRouter } from './library/router.ts';
import { membersRouter } from './members/router.ts';
import { workspacesRouter } from './workspaces/router.ts';

export const appRouter = router({
  auth: authRouter,
  workspaces: workspacesRouter,
  members: membersRouter,
  labels: labelsRouter,
  library: libraryRouter,
});

export type AppRouter = typeof appRouter;
