/** The jobs that run on a schedule, in one table. */
import { pruneAudit } from '../audit/prune-log.ts';
import { sealInvites } from '../auth/invite-token.ts';
import { pruneKeys } from '../db/idempotency-keys.ts';
import { allowLongStatements, allowManyStatements } from '../db/time-limits.ts';
import { pruneApps } from '../features/apps/clients.ts';
import { pruneAccountLogs } from '../features/auth/account-log.ts';
import { deleteExpiredSessions } from '../features/auth/sessions.ts';
import { pruneUnconfirmed, queueReminders } from '../features/booking-mails/remind.ts';
import { pruneEmbedTokens } from '../features/embed-tokens/embed-tokens.ts';
import { pruneInvitations } from '../features/invitations/read-invitations.ts';
import { applyPendingCallbacks } from '../features/meeting-providers/ingest/apply-callback.ts';
import { pruneCallbacks } from '../features/meeting-providers/ingest/callback-store.ts';
import { pruneUnmatched } from '../features/meeting-providers/ingest/unmatched-callbacks.ts';
import { deleteExpiredRequests } from '../features/openid/requests.ts';
import { expireParticipants } from '../features/participants/expire-participants.ts';
import { deleteExpiredChallenges } from '../features/passkeys/challenges.ts';
import { pruneMeetings } from '../features/peers/signals.ts';
import { failStaleRecordings } from '../features/recordings/fail-stale-recordings.ts';
import { pruneDeletions } from '../features/recordings/recording-deletions.ts';
import { pruneEvents, pruneVisits } from '../features/retention/prune-people.ts';
import { sweepRetention } from '../features/retention/sweep-retention.ts';
import { prunePasses } from '../features/room-passes/prune-passes.ts';
import { pruneTrash } from '../features/trash/delete-entries.ts';
import { finishIdleUploads } from '../features/uploads/finish-idle-uploads.ts';
import { finishCompleteUploads, removeExpiredUploads } from '../features/uploads/maintain-uploads.ts';
import type { ScheduledJob } from '../jobs/scheduler.ts';
import { resealSecrets } from '../key-rotation/reseal.ts';
import { pruneMail } from '../mail/prune-mail.ts';
import type { Services } from '../services.ts';
import { removeDiscardedObjects } from '../storage/discarded-objects.ts';
import { sweepStorage } from '../storage/sweep.ts';
import { pruneMessages, requeueLostMessages } from '../webhook-delivery/maintenance.ts';

/** A run reads whole tables, but only while a previous key is configured. */
async function resealOnSchedule(services: Services): Promise<void> {
  await allowLongStatements(() => resealSecrets(services));
}

export function createSchedule(services: Services): ScheduledJob[] {
  return [
    { name: 'storage.remove-discarded', cron: '* * * * *', run: () => removeDiscardedObjects(services) },
    { name: 'storage.sweep', cron: '17 * * * *', run: () => allowLongStatements(() => sweepStorage(services)) },
    { name: 'uploads.finish', cron: '* * * * *', run: () => finishCompleteUploads(services) },
    { name: 'uploads.finish-idle', cron: '* * * * *', run: () => finishIdleUploads(services) },
    { name: 'uploads.remove-expired', cron: '*/5 * * * *', run: () => removeExpiredUploads(services) },
    { name: 'bookings.remind', cron: '* * * * *', run: () => queueReminders(services) },
    { name: 'bookings.prune-unconfirmed', cron: '33 * * * *', run: () => pruneUnconfirmed(services) },
    { name: 'participants.close-silent', cron: '* * * * *', run: () => expireParticipants(services) },
    { name: 'embed-tokens.prune', cron: '43 3 * * *', run: () => pruneEmbedTokens(services) },
    { name: 'participants.prune-passes', cron: '41 3 * * *', run: () => prunePasses(services) },
    { name: 'meetings.prune', cron: '* * * * *', run: () => pruneMeetings(services) },
    { name: 'recordings.fail-stuck', cron: '*/5 * * * *', run: () => failStaleRecordings(services) },
    {
      name: 'recordings.forget-deletions',
      cron: '37 3 * * *',
      run: () => allowLongStatements(() => pruneDeletions(services)),
    },
    {
      name: 'library.retention',
      cron: '7 2 * * *',
      atStart: true,
      run: () => allowLongStatements(() => sweepRetention(services)),
    },
    { name: 'trash.prune', cron: '21 2 * * *', run: () => allowManyStatements(() => pruneTrash(services)) },
    {
      name: 'webhooks.requeue-lost',
      cron: '29 * * * *',
      run: () => allowLongStatements(() => requeueLostMessages(services)),
    },
    { name: 'webhooks.prune', cron: '11 3 * * *', run: () => allowLongStatements(() => pruneMessages(services)) },
    { name: 'ingest.apply-unapplied', cron: '* * * * *', run: () => applyPendingCallbacks(services) },
    { name: 'ingest.prune', cron: '23 3 * * *', run: () => allowLongStatements(() => pruneCallbacks(services)) },
    {
      name: 'ingest.prune-unmatched',
      cron: '27 3 * * *',
      run: () => allowLongStatements(() => pruneUnmatched(services)),
    },
    {
      name: 'idempotency.prune-keys',
      cron: '*/5 * * * *',
      run: () => allowLongStatements(() => pruneKeys(services.db.sql, services.clock.now())),
    },
    { name: 'keys.reseal', cron: '*/10 * * * *', run: () => resealOnSchedule(services) },
    {
      name: 'invites.seal',
      cron: '41 * * * *',
      atStart: true,
      run: () => allowLongStatements(() => sealInvites(services)),
    },
    { name: 'mail.prune', cron: '47 3 * * *', run: () => allowManyStatements(() => pruneMail(services)) },
    { name: 'passkeys.remove-expired', cron: '*/10 * * * *', run: () => deleteExpiredChallenges(services) },
    {
      name: 'invitations.prune',
      cron: '53 3 * * *',
      run: () => allowLongStatements(() => pruneInvitations(services)),
    },
    { name: 'openid.remove-expired', cron: '*/10 * * * *', run: () => deleteExpiredRequests(services) },
    {
      name: 'audit.prune',
      cron: '47 3 * * *',
      run: () =>
        allowManyStatements(() => pruneAudit(services, services.clock.now(), services.settings.auditRetentionDays)),
    },
    {
      name: 'events.prune',
      cron: '57 3 * * *',
      run: () => allowManyStatements(() => pruneEvents(services)),
    },
    {
      name: 'visits.prune',
      cron: '3 4 * * *',
      run: () => allowManyStatements(() => pruneVisits(services)),
    },
    {
      name: 'account-log.prune',
      cron: '51 3 * * *',
      run: () => allowLongStatements(() => pruneAccountLogs(services)),
    },
    { name: 'apps.prune', cron: '39 * * * *', run: () => allowLongStatements(() => pruneApps(services)) },
    {
      name: 'sessions.remove-ended',
      cron: '43 3 * * *',
      run: () => allowLongStatements(() => deleteExpiredSessions(services)),
    },
  ];
}
