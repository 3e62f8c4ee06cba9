/** The table of rooms: every operation but uploads, CSV and callbacks is a procedure of one of these. */
import { router } from '../trpc.ts';
import { analyticsRouter } from './analytics/router.ts';
import { apiKeysRouter } from './api-keys/router.ts';
import { authRouter } from './auth/router.ts';
import { bookingPagesRouter } from './booking-pages/router.ts';
import { bookingsRouter } from './bookings/router.ts';
import { connectionsRouter } from './connections/router.ts';
import { contactsRouter } from './contacts/router.ts';
import { labelsRouter } from './labels/router.ts';
import { libraryRouter } from './library/router.ts';
import { membersRouter } from './members/router.ts';
import { participantsRouter } from './participants/router.ts';
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
  participants: participantsRouter,
  recordings: recordingsRouter,
  labels: labelsRouter,
  library: libraryRouter,
  retention: retentionRouter,
  apiKeys: apiKeysRouter,
  webhooks: webhooksRouter,
  contacts: contactsRouter,
  bookingPages: bookingPagesRouter,
  bookings: bookingsRouter,
  connections: connectionsRouter,
  analytics: analyticsRouter,
});

export type AppRouter = typeof appRouter;
