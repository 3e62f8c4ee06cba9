/** The calendar feed of a host: a file with their upcoming bookings in all workspaces, which calendar programs poll. */
import { recordAccountEvent } from '../../audit/account-events.ts';
import type { Caller } from '../../auth/identify.ts';
import { unmetBy } from '../../auth/sign-in-requirements.ts';
import { createToken, hashToken, isToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { transact } from '../../db/client.ts';
import { secondsOf } from '../../db/columns.ts';
import { sqlIn } from '../../db/sql.ts';
import { bytes, int, json, statement, text, time } from '../../db/statements.ts';
import { toFeed } from '../../mail/calendar.ts';
import type { Services } from '../../services.ts';
import type { SessionCall } from '../auth/own-sessions.ts';
import { lockSessionUser } from '../auth/session-user.ts';
import { MAX_DURATION } from '../booking-pages/schemas.ts';
import type { CalendarFeed, NewCalendarFeed } from './schemas.ts';

type Needs = Pick<Services, 'db' | 'clock'>;

/** A feed contains at most this many bookings, earliest first. */
const MAX_ENTRIES = 1_000;

const SUFFIX = '.ics';

type Entry = {
  uid: string;
  sequence: number;
  changed_at: number;
  title: string;
  starts_at: number;
  ends_at: number;
  guest_name: string;
  guest_email: string;
  room_name: string | null;
};

/**
 * Does not check the host's role in the workspaces, because hosts can always see their own bookings. Leaves workspaces
 * out that require more than the session had proven in which the feed was created.
 */
const entriesOf = statement('read-calendar-feed', {
  params: { tokenHash: bytes, now: time },
  returns: { name: text, email: text, entries: json<Entry[]>('json') },
  sql: `
    select u.name, u.email, (
      select coalesce(json_agg(e order by e.starts_at, e.uid), '[]') from (
        select b.uid, b.sequence, p.title, b.name as guest_name, b.email as guest_email, r.name as room_name,
          ${secondsOf('b.created_at')} as changed_at, ${secondsOf('b.starts_at')} as starts_at,
          ${secondsOf('b.ends_at')} as ends_at
        from bookings b
        join booking_pages p on p.workspace_id = b.workspace_id and p.id = b.booking_page_id
        join workspaces w on w.id = b.workspace_id
        left join rooms r on r.workspace_id = b.workspace_id and r.id = b.room_id
        where b.user_id = u.id and b.cancelled_at is null and b.confirm_by is null and b.ends_at > $now
          and b.starts_at > $now - make_interval(mins => ${MAX_DURATION}) and ${unmetBy('f')} is null
        order by b.starts_at, b.id limit ${MAX_ENTRIES}) e) as entries
    from calendar_feeds f join users u on u.id = f.user_id
    where f.token_hash = $tokenHash and u.locked_at is null`,
});

const findFeed = statement('find-calendar-feed', {
  params: { userId: int },
  returns: { created_at: time },
  sql: 'select created_at from calendar_feeds where user_id = $userId',
});

const saveFeed = statement('save-calendar-feed', {
  params: { sessionId: int, tokenHash: bytes, now: time },
  sql: `
    insert into calendar_feeds (user_id, token_hash, created_at, second_factor_at, openid_issuer)
    select user_id, $tokenHash, $now, second_factor_at, openid_issuer from sessions where id = $sessionId
    on conflict (user_id) do update set token_hash = excluded.token_hash, created_at = excluded.created_at,
      second_factor_at = excluded.second_factor_at, openid_issuer = excluded.openid_issuer`,
});

/** Returns the feed of the caller, or null if there is none. */
export async function readFeed({ db }: Pick<Services, 'db'>, { userId }: Caller): Promise<CalendarFeed | null> {
  const [feed] = await db.sql.run(findFeed, { userId });
  return feed ? { created_at: toUnixSeconds(feed.created_at) } : null;
}

/**
 * Creates the feed of the session's user with a new address. Any earlier address stops working. Throws 401
 * SIGN_IN_EXPIRED if the session has ended, so that a thief whose session was ended in the meantime does not get the
 * address.
 */
export async function createFeed(
  services: Needs & Pick<Services, 'settings'>,
  { sessionId, client }: Pick<SessionCall, 'sessionId' | 'client'>,
  publicUrl: string,
): Promise<NewCalendarFeed> {
  const token = createToken('lnc_');
  const now = services.clock.now();
  await transact(services.db, async (tx) => {
    const { id: userId } = await lockSessionUser(services, tx, sessionId);
    await sqlIn(tx).run(saveFeed, { sessionId, tokenHash: hashToken(token), now });
    await recordAccountEvent(tx, { userId, at: now, action: 'calendar_feed_created', ...client });
  });
  return { url: `${publicUrl}/api/calendar/${token}${SUFFIX}`, created_at: toUnixSeconds(now) };
}

/** Deletes the feed of the caller, so that its address stops working. Does nothing if there is none. */
export async function deleteFeed(
  { db, clock }: Needs,
  { caller: { userId }, client }: Pick<SessionCall, 'caller' | 'client'>,
): Promise<{ ok: true }> {
  await transact(db, async (tx) => {
    const { count } = await tx.calendarFeed.deleteMany({ where: { userId } });
    if (count > 0)
      await recordAccountEvent(tx, { userId, at: clock.now(), action: 'calendar_feed_deleted', ...client });
  });
  return { ok: true };
}

/** Returns the calendar file of the feed with this token. Throws 404 "Calendar feed not found". */
export async function renderFeed({ db, clock }: Needs, fileName: string, appUrl: string): Promise<Buffer> {
  const token = fileName.endsWith(SUFFIX) ? fileName.slice(0, -SUFFIX.length) : fileName;
  if (!isToken('lnc_', token)) throw notFound('Calendar feed');
  const [feed] = await db.sql.run(entriesOf, { tokenHash: hashToken(token), now: clock.now() });
  if (!feed) throw notFound('Calendar feed');
  const { name, email, entries } = feed;
  const bookings = entries.map(({ guest_name, guest_email, room_name, changed_at, starts_at, ends_at, ...entry }) => ({
    ...entry,
    changedAt: changed_at,
    startsAt: starts_at,
    endsAt: ends_at,
    timeZone: 'UTC',
    host: { name, email },
    guest: { name: guest_name, email: guest_email },
    room: room_name === null ? null : (`/room/${room_name}` as const),
  }));
  return Buffer.from(toFeed('Bookings', bookings, appUrl));
}
