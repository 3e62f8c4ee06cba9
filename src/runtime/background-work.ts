/** The background work of a server or worker. */
import { createNumbering } from '../audit/number-entries.ts';
import { SECOND_MS } from '../core/time.ts';
import { createCounterFolder } from '../db/counters.ts';
import { startMediaWorker } from '../features/media-jobs/media-worker.ts';
import { startEgressWorker } from '../features/meeting-providers/livekit-egress/egress-worker.ts';
import { startLivekitWorker } from '../features/meeting-providers/livekit-rooms/room-worker.ts';
import { startCopier } from '../features/meeting-providers/recording-copies/copier.ts';
import { startPollLoop } from '../jobs/poll-loop.ts';
import { startScheduler } from '../jobs/scheduler.ts';
import { createWakeUps } from '../jobs/wake-ups.ts';
import { startMailer } from '../mail/mailer.ts';
import { toLocalSource } from '../mail/render-mail.ts';
import { createSmtpTransport } from '../mail/smtp.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { startDelivery } from '../webhook-delivery/start.ts';
import { type Config, isProduction } from './config.ts';
import type { CreatedServices } from './create-services.ts';
import type { StopInTime } from './lifecycle.ts';
import { createSchedule } from './schedule.ts';

/**
 * Starts scheduled jobs, the loop that applies pending counter changes, webhook delivery, the copying of recordings and
 * the sending of mail. `ownUrl` is the URL of the server, which links in mail use if no setting gives a URL.
 */
export async function startBackgroundWork(
  config: Config,
  { services, directUrl }: CreatedServices,
  cleanup: AsyncDisposableStack,
  stopInTime: StopInTime,
  metrics: Metrics | null,
  ownUrl: string,
): Promise<void> {
  const created = createSchedule(services);
  const schedule = metrics ? metrics.observeJobs(created, services.clock) : created;
  const wakeUps = createWakeUps(services.db.eventSignal);
  const scheduler = await startScheduler({ ...services, schedule });
  cleanup.defer(stopInTime('schedule', scheduler.stop));
  const counters = startPollLoop({ name: 'counters', poll: createCounterFolder(services), log: services.log });
  wakeUps.onCommit(counters.wake, SECOND_MS);
  cleanup.defer(stopInTime('counters', counters.stop));
  const numbering = startPollLoop({ name: 'audit log', poll: createNumbering(services), log: services.log });
  wakeUps.onCommit(numbering.wake, SECOND_MS);
  cleanup.defer(stopInTime('audit log', numbering.stop));
  const delivery = startDelivery({
    wakeUps,
    services,
    maxInFlight: config.WEBHOOK_CONCURRENCY,
    onAttempt: metrics?.onAttempt,
    hostLimits: { maxInFlight: config.WEBHOOK_HOST_CONCURRENCY, perSecond: config.WEBHOOK_HOST_RATE },
  });
  cleanup.defer(stopInTime('webhook delivery', delivery.stop));
  const copier = startCopier({ wakeUps, services, onCopy: metrics?.onCopy });
  cleanup.defer(stopInTime('recording copies', copier.stop));
  const livekit = startLivekitWorker({ wakeUps, services });
  cleanup.defer(stopInTime('LiveKit rooms', livekit.stop));
  const egress = startEgressWorker({ wakeUps, services });
  cleanup.defer(stopInTime('LiveKit egress', egress.stop));
  const media = startMediaWorker({ services, wakeUps });
  cleanup.defer(stopInTime('media', media.stop));
  const { SMTP_URL: smtpUrl, MAIL_FROM: from } = config;
  const { appUrl, publicUrl } = services.settings;
  if (smtpUrl === undefined && isProduction(config))
    services.log.warn({}, 'SMTP_URL is not set: mail is stored but not sent');
  const local = toLocalSource(appUrl ?? publicUrl ?? ownUrl);
  const mailer = startMailer({
    wakeUps,
    services,
    transport: smtpUrl === undefined || from === undefined ? null : createSmtpTransport({ smtpUrl, from }),
    source: { ...local, address: from?.address ?? local.address },
    onAttempt: metrics?.onMail,
  });
  cleanup.defer(stopInTime('mail', mailer.stop));
  const listener = wakeUps.start({ connectionString: directUrl, log: services.log });
  cleanup.defer(stopInTime('wake-ups', listener.stop));
}
