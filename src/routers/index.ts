/**
 * All operations of the API: the procedures, which receive and return JSON, and the raw operations, which have other
 * bodies.
 */
import { router } from '../trpc/procedures.ts';
import type { RawOperation } from '../trpc/raw-operation.ts';
import { accessRouter } from './access.ts';
import { analyticsExport, analyticsRouter } from './analytics.ts';
import { apiKeysRouter } from './api-keys.ts';
import { appsRouter } from './apps.ts';
import { auditExport, auditExportLines, auditRouter } from './audit.ts';
import { authRouter } from './auth.ts';
import { bookingPagesRouter } from './booking-pages.ts';
import { bookingsRouter } from './bookings.ts';
import { brandingLogo, brandingRouter, brandingSetLogo } from './branding.ts';
import { calendarFeedRouter, calendarFile } from './calendar-feed.ts';
import { contactsExport, contactsImport, contactsRouter } from './contacts.ts';
import { emailsRouter } from './emails.ts';
import { embedTokensRouter } from './embed-tokens.ts';
import { eventsRouter, eventsStream } from './events.ts';
import { invitationsRouter } from './invitations.ts';
import { labelsRouter } from './labels.ts';
import { libraryPoster, libraryRouter, librarySetPoster, libraryUpload, libraryUploads } from './library.ts';
import { connectionsRouter, providerCallback } from './meeting-providers.ts';
import { meetingsRouter } from './meetings.ts';
import { membersRouter } from './members.ts';
import { openidRouter } from './openid.ts';
import { participantsRouter, presenceStream } from './participants.ts';
import { passkeysRouter } from './passkeys.ts';
import { passwordsRouter } from './passwords.ts';
import { accountExport, contactExport, participantExport, peopleRouter, personExport } from './people.ts';
import {
  recordingsPoster,
  recordingsPosterInWorkspace,
  recordingsSetPoster,
  recordingsUpload,
  recordingUploads,
} from './recording-upload.ts';
import { recordingsRouter } from './recordings.ts';
import { retentionRouter } from './retention.ts';
import { roomsRouter } from './rooms.ts';
import { secondFactorRouter } from './second-factor.ts';
import { sessionsRouter } from './sessions.ts';
import { trashRouter } from './trash.ts';
import { webhooksRouter } from './webhooks.ts';
import { workspacesRouter } from './workspaces.ts';

export const appRouter = router({
  auth: authRouter,
  openid: openidRouter,
  sessions: sessionsRouter,
  access: accessRouter,
  apps: appsRouter,
  emails: emailsRouter,
  passwords: passwordsRouter,
  passkeys: passkeysRouter,
  secondFactor: secondFactorRouter,
  workspaces: workspacesRouter,
  branding: brandingRouter,
  members: membersRouter,
  invitations: invitationsRouter,
  rooms: roomsRouter,
  participants: participantsRouter,
  recordings: recordingsRouter,
  meetings: meetingsRouter,
  labels: labelsRouter,
  library: libraryRouter,
  trash: trashRouter,
  retention: retentionRouter,
  apiKeys: apiKeysRouter,
  embedTokens: embedTokensRouter,
  webhooks: webhooksRouter,
  events: eventsRouter,
  contacts: contactsRouter,
  people: peopleRouter,
  bookingPages: bookingPagesRouter,
  bookings: bookingsRouter,
  calendarFeed: calendarFeedRouter,
  connections: connectionsRouter,
  analytics: analyticsRouter,
  audit: auditRouter,
});

export const rawOperations: readonly RawOperation[] = [
  libraryUpload,
  librarySetPoster,
  libraryPoster,
  ...libraryUploads,
  recordingsUpload,
  recordingsSetPoster,
  recordingsPoster,
  recordingsPosterInWorkspace,
  ...recordingUploads,
  contactsExport,
  contactsImport,
  analyticsExport,
  providerCallback,
  auditExport,
  auditExportLines,
  accountExport,
  personExport,
  contactExport,
  participantExport,
  calendarFile,
  brandingSetLogo,
  brandingLogo,
  eventsStream,
  presenceStream,
];

export type AppRouter = typeof appRouter;
