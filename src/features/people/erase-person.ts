import { erasePerson as eraseFromAudit } from '../../audit/erase-person.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { runRepeatable } from '../../core/call-bounds.ts';
import { AppError } from '../../core/errors.ts';
import { type Tx, transact } from '../../db/client.ts';
import { onlyRow } from '../../db/only-row.ts';
import { sqlIn } from '../../db/sql.ts';
import type { Sql, Statement } from '../../db/statements.ts';
import { allowManyStatements } from '../../db/time-limits.ts';
import { eraseMailsTo } from '../../mail/drop-mails.ts';
import type { Services } from '../../services.ts';
import { stopRelay } from '../../webhook-delivery/relay-lock.ts';
import { cancelByTeam } from '../bookings/cancel-meeting.ts';
import { markLeft } from '../participants/participant-lifecycle.ts';
import * as statements from './erase-statements.ts';
import type { ErasedPerson, ErasePersonInput } from './schemas.ts';

type Address = { workspaceId: number; email: string; participantId: null };
type Page = { last: string | null; scanned: number; erased: number };

const { PAGE_SIZE } = statements;

/**
 * Erases everything that the workspace stores about an address, in many short transactions, and returns how much it
 * erased. First cancels upcoming bookings and ends visits in progress. Erases everything that was committed before the
 * call. Rows that the person adds during the call are either erased or fully preserved, as if they had been added
 * afterwards. The rows that identify the person's events are erased last, so that the call can be repeated after a
 * failure. The audit log records the start of the erasure, without the address.
 *
 * Throws 403 if the actor is no longer owner or admin.
 */
export function erasePerson(services: Services, actor: Actor, { email }: ErasePersonInput): Promise<ErasedPerson> {
  return runRepeatable(() => allowManyStatements(() => eraseAll(services, actor, email)));
}

async function eraseAll(services: Services, actor: Actor, email: string): Promise<ErasedPerson> {
  const { db } = services;
  const { workspaceId } = actor;
  const address: Address = { workspaceId, email, participantId: null };
  const { audit_entries, is_member } = await begin(services, actor, address);
  const cancelled = await cancelUpcoming(services, actor, address);
  await endVisits(services, address);
  // Records added after this point are preserved, because their events may be added after the person's events have been
  // read.
  const known = onlyRow(await db.sql.run(statements.rowsOfPerson, { ...address, now: services.clock.now() }));
  const events = await eraseEvents(services, address);
  const run = (statement: Statement<Address & { after: string }, Page>) => erasePages(db.sql, statement, address);
  const webhook_messages = await run(statements.eraseMessages);
  const callbacks = (await run(statements.eraseCallbacks)) + (await run(statements.eraseUnmatched));
  const mail = await eraseMailsTo(db.sql, { address: email, workspaceId, now: services.clock.now() });
  const invitations = (await db.sql.run(statements.eraseInvitations, address)).length;
  const holder = { workspaceId, email, visits: known.visits, now: services.clock.now() };
  const passes = await db.sql.run(statements.erasePasses, holder);
  const visits = await erasePages(db.sql, statements.eraseVisits, { workspaceId, known: known.visits });
  const bookings = await erasePages(db.sql, statements.eraseBookings, { workspaceId, known: known.bookings });
  const contact_events = await eraseContactEvents(services, address);
  const contacts = (await db.sql.run(statements.eraseContacts, { workspaceId, known: known.contacts })).length;
  const others = {
    contacts,
    contact_events,
    visits,
    room_passes: passes.length,
    invitations,
    mail,
    events,
    webhook_messages,
    callbacks,
  };
  return { erased: { cancelled_bookings: cancelled, bookings, ...others, audit_entries }, is_member };
}

/**
 * Records the erasure. If the actor is the owner and the person is a former member, also erases the person from the
 * audit log.
 */
function begin({ db, clock }: Services, actor: Actor, address: Address) {
  return transact(db, async (tx: Tx) => {
    const { workspaceId } = actor;
    const workspace = await lockWorkspaceAs(tx, actor, 'admin');
    const [account] = await sqlIn(tx).run(statements.accountWith, address);
    const isInAudit = account?.isMember === 0 && workspace.owner_id === actor.userId;
    const audit_entries = isInAudit ? await eraseFromAudit(sqlIn(tx), account.id, workspaceId) : 0;
    const target = { kind: 'person', id: null } as const;
    const entry = { workspaceId, at: clock.now(), actor: auditActorOf(actor), target };
    await recordAudit(tx, { ...entry, action: 'person.erased' });
    return { audit_entries, is_member: account?.isMember === 1 ? (1 as const) : (0 as const) };
  });
}

/**
 * Cancels the upcoming bookings. Skips a booking if its meeting has begun, or if it has been cancelled or deleted
 * concurrently.
 */
async function cancelUpcoming(services: Services, actor: Actor, address: Address): Promise<number> {
  const now = services.clock.now();
  let count = 0;
  for (const { id } of await services.db.sql.run(statements.upcomingBookings, { ...address, now })) {
    try {
      await cancelByTeam(services, actor, { bookingId: id });
      count += 1;
    } catch (error) {
      if (!(error instanceof AppError) || !['CONFLICT', 'NOT_FOUND'].includes(error.code)) throw error;
    }
  }
  return count;
}

async function endVisits({ db, clock }: Services, address: Address): Promise<void> {
  const { workspaceId } = address;
  for (const visit of await db.sql.run(statements.presentVisits, address))
    await db.sql.transact((sql) => markLeft(sql, clock.now(), { ...visit, workspaceId }));
}

/**
 * Erases the person from events. Stops the relay while erasing events that it has not numbered yet. Otherwise the relay
 * would skip the events that are locked here, and would number later events first.
 */
async function eraseEvents({ db }: Services, address: Address): Promise<number> {
  const unrelayed = await db.sql.transact(async (sql) => {
    await stopRelay(sql);
    return erasePages(sql, statements.eraseUnrelayed, address);
  });
  return unrelayed + (await erasePages(db.sql, statements.eraseRelayed, address));
}

async function erasePages<Params extends object>(
  sql: Sql,
  statement: Statement<Params & { after: string }, Page>,
  params: Params,
): Promise<number> {
  let erased = 0;
  for (let after = '0'; ; ) {
    const [page] = await sql.run(statement, { ...params, after });
    erased += page?.erased ?? 0;
    if (!page?.last || page.scanned < PAGE_SIZE) return erased;
    after = page.last;
  }
}

async function eraseContactEvents({ db }: Services, address: Address): Promise<number> {
  for (let total = 0; ; ) {
    const erased = await db.sql.transact(async (sql) => {
      await sql.run(statements.keepSums, {});
      return (await sql.run(statements.eraseContactEvents, { ...address, max: PAGE_SIZE })).length;
    });
    total += erased;
    if (erased < PAGE_SIZE) return total;
  }
}
