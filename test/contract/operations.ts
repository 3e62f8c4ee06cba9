/**
 * The list of all operations, procedures and raw operations: who may call them, their input and their errors. The rows
 * of a feature are in `rows/`. A test fails if an operation has no row.
 */
import type { Rows } from './row.ts';
import { accessRows } from './rows/access.ts';
import { analyticsRows } from './rows/analytics.ts';
import { apiKeyRows } from './rows/api-keys.ts';
import { appRows } from './rows/apps.ts';
import { auditRows } from './rows/audit.ts';
import { authRows } from './rows/auth.ts';
import { bookingPageRows } from './rows/booking-pages.ts';
import { bookingRows } from './rows/bookings.ts';
import { brandingRows } from './rows/branding.ts';
import { calendarFeedRows } from './rows/calendar-feed.ts';
import { contactRows } from './rows/contacts.ts';
import { emailRows } from './rows/emails.ts';
import { embedTokenRows } from './rows/embed-tokens.ts';
import { eventRows } from './rows/events.ts';
import { invitationRows } from './rows/invitations.ts';
import { labelRows } from './rows/labels.ts';
import { libraryRows } from './rows/library.ts';
import { meetingProviderRows } from './rows/meeting-providers.ts';
import { meetingRows } from './rows/meetings.ts';
import { memberRows } from './rows/members.ts';
import { openidRows } from './rows/openid.ts';
import { participantRows } from './rows/participants.ts';
import { passkeyRows } from './rows/passkeys.ts';
import { passwordRows } from './rows/passwords.ts';
import { peopleRows } from './rows/people.ts';
import { recordingUploadRows } from './rows/recording-upload.ts';
import { recordingRows } from './rows/recordings.ts';
import { retentionRows } from './rows/retention.ts';
import { roomRows } from './rows/rooms.ts';
import { secondFactorRows } from './rows/second-factor.ts';
import { sessionRows } from './rows/sessions.ts';
import { trashRows } from './rows/trash.ts';
import { webhookRows } from './rows/webhooks.ts';
import { workspaceRows } from './rows/workspaces.ts';

export const rows: Rows = {
  ...auditRows,
  ...authRows,
  ...openidRows,
  ...sessionRows,
  ...accessRows,
  ...appRows,
  ...secondFactorRows,
  ...emailRows,
  ...passwordRows,
  ...passkeyRows,
  ...workspaceRows,
  ...brandingRows,
  ...memberRows,
  ...invitationRows,
  ...roomRows,
  ...participantRows,
  ...recordingRows,
  ...meetingRows,
  ...recordingUploadRows,
  ...labelRows,
  ...libraryRows,
  ...trashRows,
  ...retentionRows,
  ...apiKeyRows,
  ...embedTokenRows,
  ...webhookRows,
  ...eventRows,
  ...contactRows,
  ...peopleRows,
  ...bookingPageRows,
  ...bookingRows,
  ...calendarFeedRows,
  ...meetingProviderRows,
  ...analyticsRows,
};
