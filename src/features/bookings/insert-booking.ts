/** The statements that book a meeting. Send them together, in one transaction. */
import { countForQuota } from '../../db/counters.ts';
import { bool, bytes, int, json, nullable, statement, text, time } from '../../db/statements.ts';
import { mailParams, mailParts } from '../../mail/queue-mail.ts';
import { holdsTime } from '../booking-pages/host-calendar.ts';
import { contactParams, contactParts } from '../contacts/contact-parts.ts';
import { roomParams, roomParts } from '../rooms/create-room.ts';
import type { toNewBookingData } from './booking-events.ts';
import { isTaken, newTimeParams } from './new-time.ts';

/**
 * Locks the calendar of a host. The next statement then sees every booking of the host, and no other transaction can
 * add one before the commit. Without this lock, two bookings for the same time could deadlock in the index of the
 * constraint `bookings_one_calendar`. The setting `lynxroom.locked_host`, which `insertBooking` checks, lasts as long
 * as the lock. Also ends the bookings of the host that were not confirmed in time, so that they no longer hold their
 * times.
 */
export const lockHost = statement('lock-host', {
  params: { workspaceId: int, userId: int, now: time },
  returns: { locked_host: text },
  sql: `
    with workspace as (select id from workspaces where id = $workspaceId for key share),
    host as (select u.id from workspace w join users u on u.id = $userId for no key update of u),
    ended as (
      update bookings b set cancelled_at = b.confirm_by from host h
      where b.user_id = h.id and b.confirm_by <= $now and b.cancelled_at is null)
    select set_config('lynxroom.locked_host', h.id::text, true) as locked_host from host h`,
});

/**
 * Adds the room, the contact, the booking and the contact event, emits their events, and queues the mail. It does so
 * only if the page has not changed since it was read, the time is free, and no limit is reached. With `confirmBy`, it
 * adds only the booking and the mail. Such a booking holds its time until `confirmBy`, unless `isWaiting` is set, and
 * `confirmBooking` adds the rest. If too many wait, the oldest of the network with the most ends. Roll back and retry
 * if `is_current` is false (the page has changed), or if all conditions are met but `id` is null (the room name is
 * taken, or another transaction has just added the contact).
 *
 * The first part of this statement locks the membership of the host. If the host leaves concurrently, this happens
 * either after the commit, in which case the room and booking are reassigned, or before this statement, which then
 * finds that the page has another host. Because `lockHost` has already locked the calendar, at most one booking at a
 * time delays the removal of a host. If `lockHost` does not hold its lock, this statement adds nothing. Both statements
 * are sent along with BEGIN, so if BEGIN failed, each of them would run on its own.
 */
export const insertBooking = statement('insert-booking', {
  params: {
    workspaceId: int,
    bookingPageId: int,
    pageVersion: text,
    ...roomParams,
    ...contactParams,
    ...mailParams,
    uid: text,
    name: text,
    email: text,
    address: nullable(text),
    mailbox: text,
    networkHash: nullable(bytes),
    tokenHash: bytes,
    sealedToken: bytes,
    confirmBy: nullable(time),
    confirmHash: nullable(bytes),
    reminderAt: nullable(time),
    timeZone: nullable(text),
    ...newTimeParams,
    /** Bookings that were created after this time count toward the limits of the network and the host. */
    countedSince: time,
    maxUpcoming: int,
    maxByNetwork: int,
    maxByHost: int,
    /** Whether the booking is beyond the limit of the host, so that it holds no time until it is confirmed. */
    isWaiting: bool,
    maxWaiting: int,
    roomQuota: int,
    bookingData: json<ReturnType<typeof toNewBookingData>>(),
  },
  returns: {
    is_current: bool,
    is_taken: bool,
    upcoming: int,
    by_network: int,
    by_host: int,
    rooms: nullable(int),
    room_name: nullable(text),
    id: nullable(int),
    mails: int,
  },
  sql: `
    with host as (
      select workspace_id, user_id from members
      where workspace_id = $workspaceId and user_id = $userId
        and current_setting('lynxroom.locked_host', true) = $userId::text
      for share),
    page as (
      select p.workspace_id, p.id from host h join booking_pages p on p.workspace_id = h.workspace_id
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
        from bookings o where user_id = $userId and created_at > $countedSince) b),
    permitted as (
      select p.workspace_id from page p, used u
      where not u.is_taken and u.upcoming < $maxUpcoming
        and ($networkHash is null or $maxByNetwork = 0 or u.by_network < $maxByNetwork)
        and ($isWaiting or $maxByHost = 0 or u.by_host < $maxByHost) and ($roomQuota = 0 or u.rooms < $roomQuota)),
    allowed as (select workspace_id from permitted where $confirmBy is null),
    ended as (
      update bookings b set cancelled_at = $at from (
        select w.workspace_id, w.id from (
          select *, count(*) over () as waiting, count(*) over (partition by network_hash) as of_network from bookings
          where $isWaiting and user_id = $userId and is_waiting and confirm_by is not null and cancelled_at is null) w
        where exists (select from permitted) and w.waiting >= $maxWaiting
        order by w.of_network desc, w.created_at, w.id limit 1) o
      where b.workspace_id = o.workspace_id and b.id = o.id),
    ${roomParts},
    people as (
      select r.workspace_id, $address as address, $name as name, 0 as position from room r where $address is not null),
    ${contactParts},
    booking as (
      insert into bookings (workspace_id, booking_page_id, user_id, contact_id, room_id, name, email, mailbox,
        network_hash, token_hash, sealed_token, uid, time_zone, starts_at, ends_at, buffer_before, buffer_after,
        created_at, confirm_by, confirm_hash, is_waiting, reminder_at)
      select p.workspace_id, $bookingPageId, $userId, c.id, r.id, $name, $email, $mailbox, $networkHash, $tokenHash,
        $sealedToken, $uid::uuid, $timeZone, $startsAt, $endsAt, $bufferBefore, $bufferAfter, $at, $confirmBy,
        $confirmHash, $isWaiting, $reminderAt
      from permitted p left join room r on true left join contact c on true
      where $confirmBy is not null or (r.id is not null and ($address is null or c.address is not null))
      returning workspace_id, id, contact_id, booking_page_id),
    contact_event as (
      insert into contact_events (workspace_id, type, contact_id, booking_page_id, created_at)
      select workspace_id, 'booking', contact_id, booking_page_id, $at from booking where $confirmBy is null),
    booking_created as (
      insert into events (workspace_id, type, data, created_at, traceparent)
      select b.workspace_id, 'booking.created', $bookingData || jsonb_build_object('workspace_id', b.workspace_id,
        'booking_id', b.id, 'contact_id', b.contact_id, 'room_name', r.name), $at, $traceparent
      from booking b, room r, (select count(*) from event) after_room),
    ${mailParts('exists (select from booking)')}
    select exists (select from page) as is_current, u.is_taken, u.upcoming, u.by_network, u.by_host, u.rooms,
      r.name as room_name, b.id, (select count(*)::int from mail) as mails
    from used u left join room r on true left join booking b on true`,
});
