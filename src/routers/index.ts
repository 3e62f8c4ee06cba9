/** The table of rooms: every operation but the upload is a procedure of one of these. */
import { router } from '../trpc.ts';
import { analyticsRouter } from './analytics/router.ts';
import { apiKeysRouter } from './api-keys/router.ts';
import { authRouter } from './auth/router.ts';
import { labelsRouter } from './labels/router.ts';
import { libraryRouter } from './library/router.ts';
import { membersRouter } from './members/router.ts';
import { recordingsRouter } from './recordings/router.ts';
import { retentionRouter } from './retention/router.ts';
import { roomsRouter } from './rooms/router.ts';
import { webhooksRouter } from './webhooks/router.ts';
import { workspacesRouter } from './workspaces/router.ts';

export const appRouter = router({
  auth: authRouter,
  workspaces: workspacesRouter,
  members: membersRouter,
  rooms: roomsRouter,
  recordings: recordingsRouter,
  labels: labelsRouter,
  library: libraryRouter,
  retention: retentionRouter,
  apiKeys: apiKeysRouter,
  webhooks: webhooksRouter,
  analytics: analyticsRouter,
});

export type AppRouter = typeof appRouter;
