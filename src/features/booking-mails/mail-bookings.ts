/** Queues mail about existing bookings, in the transaction that changes them. */
import type { Sealer } from '../../core/sealing.ts';
import {
  bool,
  bytes,
  int,
  ints,
  nullable,
  oneOf,
  type RowOf,
  type Sql,
  statement,
  text,
  time,
} from '../../db/statements.ts';
import type { Language } from '../../languages/languages.ts';
import { dropMails } from '../../mail/drop-mails.ts';
import type { NewMail } from '../../mail/queue-mail.ts';
import { queueMails } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';
import {
  type BookingFacts,
  bookingTokenSeal,
  type Report,
  reminderKey,
  toBookingMails,
  toGuestMail,
  toHostMail,
} from './booking-mails.ts';

type Needs = Pick<Services, 'sealer' | 'clock'>;

export type Which = { workspaceId: number; bookingIds: readonly number[] };

/** Number of bookings that one statement reads. It limits how many messages are in memory at a time. */
const BATCH = 500;

/** Skips unconfirmed bookings, because only their guests know about them. */
const factsOf = statement('find-booking-facts', {
  params: { workspaceId: int, bookingIds: ints },
  returns: {
    workspaceId: int,
    uid: text,
    sequence: int,
    title: text,
    slug: text,
    startsAt: time,
    endsAt: time,
    hostName: text,
    hostEmail: text,
    notifiesHost: bool,
    guestName: text,
    guestEmail: text,
    timeZone: text,
    guestTimeZone: nullable(text),
    language: nullable(oneOf<Language>()),
    roomName: nullable(text),
    tokenHash: bytes,
    sealedToken: nullable(bytes),
  },
  sql: `
    select b.workspace_id as "workspaceId", b.uid::text, b.sequence, p.title, p.slug, b.starts_at as "startsAt",
      b.ends_at as "endsAt", u.name as "hostName", u.email as "hostEmail", p.notify_host as "notifiesHost",
      b.name as "guestName", b.email as "guestEmail", p.time_zone as "timeZone", b.time_zone as "guestTimeZone",
      coalesce(b.language, w.language) as language,
      r.name as "roomName", b.token_hash as "tokenHash", b.sealed_token as "sealedToken"
    from bookings b
    join workspaces w on w.id = b.workspace_id
    join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
    join users u on u.id = p.user_id
    left join rooms r on r.workspace_id = b.workspace_id and r.id = b.room_id
    where b.workspace_id = $workspaceId and b.id = any($bookingIds) and b.confirm_by is null
    order by b.starts_at, b.id`,
});

/**
 * Queues mail about bookings to their guests and hosts. Drops reminders that are still queued, unless the mail itself
 * is a reminder.
 */
export async function mailBookings(services: Needs, sql: Sql, which: Which, report: Report): Promise<void> {
  await mailEach(services, sql, which, async (facts) => {
    if (report.change !== 'reminder') await dropReminders(sql, facts, report.at);
    return facts.flatMap((one) => toBookingMails(one, report));
  });
}

/** Queues mail to the guests and both hosts about bookings that have passed to a new host. */
export async function mailNewHost(
  services: Needs,
  sql: Sql,
  which: Which,
  { at, from }: { at: Date; from: { name: string; email: string } },
): Promise<void> {
  await mailEach(services, sql, which, async (facts) => {
    await dropReminders(sql, facts, at);
    return facts.flatMap((one): NewMail[] => [
      toGuestMail(one, { change: 'new-host', at }),
      ...(one.notifiesHost
        ? [
            toHostMail(one, { change: 'new-host', at }),
            toHostMail({ ...one, hostName: from.name, hostEmail: from.email }, { change: 'passed-on', at }),
          ]
        : []),
    ]);
  });
}

async function mailEach(
  services: Needs,
  sql: Sql,
  { workspaceId, bookingIds }: Which,
  toMails: (facts: BookingFacts[]) => Promise<NewMail[]>,
): Promise<void> {
  for (let start = 0; start < bookingIds.length; start += BATCH) {
    const batch = bookingIds.slice(start, start + BATCH);
    const rows = await sql.run(factsOf, { workspaceId, bookingIds: batch });
    await queueMails(services, sql, await toMails(rows.map((row) => toFacts(services.sealer, row))));
  }
}

function toFacts(sealer: Sealer, { tokenHash, sealedToken, ...facts }: RowOf<typeof factsOf>): BookingFacts {
  return { ...facts, token: sealedToken === null ? null : tryToOpen(sealer, sealedToken, tokenHash) };
}

/**
 * Returns null if the token was sealed with another key. The mail then has no link. Throwing instead would make it
 * impossible to cancel a meeting after a key is lost.
 */
function tryToOpen(sealer: Sealer, sealedToken: Uint8Array, tokenHash: Uint8Array): string | null {
  try {
    return sealer.open(sealedToken, bookingTokenSeal(tokenHash));
  } catch {
    return null;
  }
}

/** Drops queued reminders. Their keys contain the previous sequence, because they were queued before this change. */
async function dropReminders(sql: Sql, facts: readonly BookingFacts[], now: Date): Promise<void> {
  const keys = facts.flatMap(({ uid, sequence }) => {
    const before = { uid, sequence: sequence - 1 };
    return [reminderKey(before, 'guest'), reminderKey(before, 'host')];
  });
  await dropMails(sql, keys, now);
}
