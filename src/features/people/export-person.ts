import { recordAudits } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { toUnixSeconds } from '../../core/time.ts';
import { secondsOf } from '../../db/columns.ts';
import { float, int, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { writeDocument } from './document.ts';
import * as scans from './person-scans.ts';
import type { Person } from './person-sql.ts';
import { scan } from './scan.ts';

type Dependencies = Pick<Services, 'db' | 'clock'>;
type Export = Promise<AsyncGenerator<Buffer, void, undefined>>;

const contactById = statement('find-contact-to-export', {
  params: { workspaceId: int, contactId: int },
  returns: { email: text },
  sql: 'select email from contacts where workspace_id = $workspaceId and id = $contactId',
});

const participantById = statement('find-participant-to-export', {
  params: { workspaceId: int, participantId: int },
  returns: { email: nullable(text) },
  sql: `
    select nullif(lower(btrim(email)), '') as email from participants
    where workspace_id = $workspaceId and id = $participantId`,
});

const memberByAddress = statement('find-member-by-address', {
  params: { workspaceId: int, email: nullable(text) },
  returns: { user_id: int, name: text, role: text, joined_at: float },
  sql: `
    select m.user_id, u.name, m.role, ${secondsOf('m.joined_at')} as joined_at
    from users u join members m on m.user_id = u.id and m.workspace_id = $workspaceId where u.email = $email`,
});

/**
 * Exports everything that the workspace stores about an address as one JSON document. Reads from the database only as
 * fast as the caller consumes the document. The audit log records the start of the export, without the address.
 */
export function exportPerson(services: Dependencies, actor: Actor, email: string): Export {
  return exportAll(services, actor, { email, participantId: null }, {});
}

/** Like `exportPerson`, for the address of a contact. Throws 404 "Contact not found". */
export async function exportContact(services: Dependencies, actor: Actor, contactId: number): Export {
  const { workspaceId } = actor;
  const [contact] = await services.db.sql.run(contactById, { workspaceId, contactId });
  if (!contact) throw notFound('Contact');
  return exportAll(services, actor, { email: contact.email, participantId: null }, { contact_id: contactId });
}

/**
 * Like `exportPerson`, for the address of a participant. If the participant has no address, exports only this visit.
 * Throws 404 "Participant not found".
 */
export async function exportParticipant(services: Dependencies, actor: Actor, participantId: number): Export {
  const { workspaceId } = actor;
  const [participant] = await services.db.sql.run(participantById, { workspaceId, participantId });
  if (!participant) throw notFound('Participant');
  return exportAll(services, actor, { email: participant.email, participantId }, { participant_id: participantId });
}

async function exportAll(
  { db, clock }: Dependencies,
  actor: Actor,
  { email, participantId }: Omit<Person, 'workspaceId'>,
  after: Record<string, number>,
): Export {
  const { workspaceId } = actor;
  const now = clock.now();
  const person = { workspaceId, email, participantId };
  const [member = null] = await db.sql.run(memberByAddress, person);
  const target = { kind: 'person', id: null } as const;
  const entry = { workspaceId, at: now, actor: auditActorOf(actor), target, after };
  await recordAudits(db.sql, [{ ...entry, action: 'person.exported' }]);
  const read = (statement: Parameters<typeof scan<Person>>[1]) => scan(db.sql, statement, person);
  const about = { workspace_id: workspaceId, email, participant_id: participantId };
  return writeDocument([
    ['person', { ...about, exported_at: toUnixSeconds(now), member }],
    ['contacts', read(scans.contacts)],
    ['contact_events', read(scans.contactEvents)],
    ['visits', read(scans.visits)],
    ['bookings', read(scans.bookings)],
    ['room_passes', read(scans.roomPasses)],
    ['invitations', read(scans.invitations)],
    ['mail', read(scans.mail)],
    ['events', read(scans.events)],
    ['webhook_messages', read(scans.messages)],
    ['callbacks', read(scans.callbacks)],
    ['unmatched_callbacks', read(scans.unmatchedCallbacks)],
  ]);
}
