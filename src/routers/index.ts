/** The table of rooms: every operation but uploads, CSV and callbacks is a procedure of one of these. */
import { router } from '../trpc/trpc.ts';
import { analyticsRouter } from './analytics.ts';
import { apiKeysRouter } from './api-keys.ts';
import { authRouter } from './auth.ts';
import { bookingPagesRouter } from './booking-pages.ts';
import { bookingsRouter } from './bookings.ts';
import { contactsRouter } from './contacts.ts';
import { labelsRouter } from './labels.ts';
import { libraryRouter } from './library.ts';
import { connectionsRouter } from './meeting-providers.ts';
import { membersRouter } from './members.ts';
import { participantsRouter } from './participants.ts';
import { recordingsRouter } from './recordings.ts';
import { retentionRouter } from './retention.ts';
import { roomsRouter } from './rooms.ts';
import { webhooksRouter } from './webhooks.ts';
import { workspacesRouter } from './workspaces.ts';

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
