import { DAY_MS } from '../core/time.ts';
import type { Services } from '../services.ts';

/** Deletes messages that ended `MAIL_RETENTION_DAYS` ago, and links that have expired. */
export async function pruneMail({ db, clock, settings }: Pick<Services, 'db' | 'clock' | 'settings'>): Promise<void> {
  const now = clock.now();
  const endedBefore = new Date(now.getTime() - settings.mailRetentionDays * DAY_MS);
  await db.mailMessage.deleteMany({ where: { endedAt: { lt: endedBefore } } });
  await db.accountToken.deleteMany({ where: { expiresAt: { lte: now } } });
}
