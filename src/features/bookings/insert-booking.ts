/** The statements that book a meeting, in one transaction and in this order. */
import { countForQuota } from '../../db/counters.ts';
import { bool, bytes, int, nullable, oneOf, statement, text, time } from '../../db/statements.ts';
import { insertBookingCreated } from '../../events/booking-events.ts';
import type { Language } from '../../languages/languages.ts';
import { holdsTime } from '../booking-pages/host-calendar.ts';
import { isTaken, newTimeParams } from './new-time.ts';

/**
 * Locks the calendar of a host. The next statement then sees every booking of the host, and no other transaction can
 * add one before the commit. Without this lock, two bookings for the same time could deadlock in the index of the
 * constraint `bookings_one_calendar`. Also ends the bookings of the host that were not confirmed in time, so that they
 * no longer hold their times.
 */
export const lockHost = statement('lock-host', {
  params: { workspaceId: int, userId: int, now: time },
  returns: { id: int },
  sql: `
    with workspace as (select id from workspaces where id = $workspaceId for key share),
    host as (select u.id from workspace w join users u on u.id = $userId for no key update of u),
    ended as (
      update bookings b set cancelled_at = b.confirm_by from host h
      where b.user_id = h.id and b.confirm_by <= $now and b.cancelled_at is null)
    select id from host`,
});

/**
 * Checks that the page has not changed since it was read, that the time is free, and that no limit is reached. Returns
 * the ID for the booking; `id` is null unless all of this is true. Send it together with `lockHost`: both only lock,
 * read and tidy up, so it does no harm if BEGIN fails and each of them runs on its own.
 *
 * The first part of this statement locks the membership of the host. If the host leaves concurrently, this happens
 * either after the commit, in which case the room and booking are reassigned, or before this statement, which then
 * finds that the page has another host. Because `lockHost` has already locked the calendar, at most one booking at a
 * time delays the removal of a host.
 */
export const checkBooking = statement('check-booking', {
  params: {
    workspaceId: int,
    userId: int,
    bookingPageId: int,
    pageVersion: text,
    mailbox: text,
    networkHash: nullable(bytes),
    at: time,
    ...newTimeParams,
    /** Bookings that were created after this time count toward the limits of the network and the host. */
    countedSince: time,
    maxUpcoming: int,
    maxByNetwork: int,
    maxByHost: int,
    /** Whether the booking is beyond the limit of the host, so that it holds no time until it is confirmed. */
    isWaiting: bool,
    roomQuota: int,
  },
  returns: {
    is_current: bool,
    is_taken: bool,
    upcoming: int,
    by_network: int,
    by_host: int,
    rooms: nullable(int),
    id: nullable(int),
  },
  sql: `
    with host as (
      select workspace_id, user_id from members where workspace_id = $workspaceId and user_id = $userId for share),
    page as (
      select p.id from host h join booking_pages p on p.workspace_id = h.workspace_id
        and p.id = $bookingPageId and p.user_id = h.user_id and p.xmin::text = $pageVersion
      for share of p),
    used as (
      select
        ${isTaken()} as is_taken,
        (select count(*)::int from bookings where workspace_id = $workspaceId and booking_page_id = $bookingPageId
          and mailbox = $mailbox and cancelled_at is null and starts_at > $at) as upcoming,
        (select ${countForQuota('rooms', '$roomQuota')} from workspaces w where w.id = $workspaceId) as rooms,
        b.by_host, b.by_network
      from (
        select count(*) filter (where cancelled_at is null and ${holdsTime('o')})::int as by_host,
          count(*) filter (where network_hash = $networkHash)::int as by_network
        from bookings o where user_id = $userId and created_at > $countedSince) b)
    select p.id is not null as is_current, u.is_taken, u.upcoming, u.by_network, u.by_host, u.rooms,
      case when p.id is not null and not u.is_taken and u.upcoming < $maxUpcoming
        and ($networkHash is null or $maxByNetwork = 0 or u.by_network < $maxByNetwork)
        and ($isWaiting or $maxByHost = 0 or u.by_host < $maxByHost) and ($roomQuota = 0 or u.rooms < $roomQuota)
      then nextval(pg_get_serial_sequence('bookings', 'id'))::int end as id
    from used u left join page p on true`,
});

/**
 * Adds the booking that `checkBooking` has permitted, with the room of this name and the contact with this address,
 * which the transaction has added before, and emits `booking.created`. With `confirmBy`, and without a room and a
 * contact, the booking only holds its time until then, unless `isWaiting` is set, and `confirmBooking` adds the rest.
 * If too many wait, the oldest of the network with the most ends.
 */
export const insertBooking = statement('insert-booking', {
  params: {
    id: int,
    workspaceId: int,
    bookingPageId: int,
    userId: int,
    roomName: nullable(text),
    address: nullable(text),
    uid: text,
    name: text,
    email: text,
    mailbox: text,
    networkHash: nullable(bytes),
    tokenHash: bytes,
    sealedToken: bytes,
    at: time,
    confirmBy: nullable(time),
    confirmHash: nullable(bytes),
    isWaiting: bool,
    maxWaiting: int,
    reminderAt: nullable(time),
    timeZone: nullable(text),
    language: nullable(oneOf<Language>()),
    startsAt: time,
    endsAt: time,
    bufferBefore: int,
    bufferAfter: int,
  },
  sql: `
    with ended as (
      update bookings b set cancelled_at = $at from (
        select w.workspace_id, w.id from (
          select *, count(*) over () as waiting, count(*) over (partition by network_hash) as of_network from bookings
          where $isWaiting and user_id = $userId and is_waiting and confirm_by is not null and cancelled_at is null) w
        where w.waiting >= $maxWaiting
        order by w.of_network desc, w.created_at, w.id limit 1) o
      where b.workspace_id = o.workspace_id and b.id = o.id),
    booking as (
      insert into bookings (workspace_id, id, booking_page_id, user_id, contact_id, room_id, name, email, mailbox,
        network_hash, token_hash, sealed_token, uid, time_zone, language, starts_at, ends_at, buffer_before,
        buffer_after, created_at, confirm_by, confirm_hash, is_waiting, reminder_at)
      values ($workspaceId, $id, $bookingPageId, $userId,
        (select c.id from contacts c where c.workspace_id = $workspaceId and c.email = $address),
        (select r.id from rooms r where r.workspace_id = $workspaceId and r.name = $roomName),
        $name, $email, $mailbox, $networkHash, $tokenHash, $sealedToken, $uid::uuid, $timeZone, $language, $startsAt,
        $endsAt, $bufferBefore, $bufferAfter, $at, $confirmBy, $confirmHash, $isWaiting, $reminderAt)
      returning *)
    ${insertBookingCreated('booking')}`,
});
