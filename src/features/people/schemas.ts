import { z } from 'zod';
import { requestedId } from '../../core/requested-id.ts';
import { count, email, flag, id, unixSeconds } from '../../core/validation.ts';

const address = email
  .describe(
    'The address, in upper or lower case. A person with `vera+news@example.com` is not found by `vera@example.com`',
  )
  .meta({ example: 'vera@example.com' });

export const PersonQuery = z.object({ email: address });

export const AccountParams = z.object({});
export const ContactParams = z.object({
  id: requestedId.describe('Workspace ID'),
  contactId: requestedId.describe('Contact ID'),
});
export const ParticipantParams = z.object({
  id: requestedId.describe('Workspace ID'),
  participantId: requestedId.describe('Participant ID'),
});

const records = z.array(z.record(z.string(), z.unknown()));

export const PersonExport = z
  .object({
    person: z.object({
      workspace_id: id,
      email: z.string().nullable().describe('null for a participant without an address'),
      participant_id: id.nullable().describe('Set for the export of a participant'),
      exported_at: unixSeconds,
      member: z
        .object({ user_id: id, name: z.string(), role: z.string(), joined_at: unixSeconds })
        .nullable()
        .describe('The member of the workspace who has the address; null if there is none'),
    }),
    contacts: records,
    contact_events: records.describe('What analytics counted about the contact'),
    visits: records.describe('Visits to rooms by the person'),
    bookings: records,
    room_passes: records,
    invitations: records,
    mail: records.describe('Mail that the workspace sent, without the text'),
    events: records.describe('Events of the workspace that name the person'),
    webhook_messages: records.describe('Webhook messages that name the person'),
    callbacks: records.describe('What meeting providers reported about the person'),
    unmatched_callbacks: records,
  })
  .meta({ id: 'PersonExport', description: 'Everything that a workspace stores about a person' });

export const AccountExport = z
  .object({
    account: z.record(z.string(), z.unknown()),
    sessions: records,
    known_devices: records.describe('When devices were last seen'),
    second_factor: records,
    openid_identities: records,
    passkeys: records,
    memberships: records.describe('The workspaces of the account, with its role in each'),
    invitations: records.describe('Invitations that the account accepted, or that were sent to its confirmed address'),
    api_keys: records.describe('Keys that the account created'),
    connected_apps: records.describe('Apps that the account has connected'),
    rooms: records,
    booking_pages: records,
    labels: records,
    library_items: records.describe('Files that the account uploaded'),
    trash_entries: records.describe('Those of them that were moved to the trash'),
    webhooks: records,
    connections: records.describe('Connections to meeting providers that the account created'),
    visits: records.describe('Visits to rooms by the user, in any workspace'),
    mail: records.describe('Mail to the confirmed address, without the text'),
    log: records.describe('The log of the account'),
    audit_entries: records.describe('What the account did, in the audit logs of all workspaces'),
  })
  .meta({ id: 'AccountExport', description: 'Everything that belongs to an account' });

export const ErasePersonInput = z.object({ email: address }).meta({ id: 'ErasePersonRequest' });
export type ErasePersonInput = z.infer<typeof ErasePersonInput>;

export const ErasedPerson = z
  .object({
    erased: z
      .object({
        cancelled_bookings: count.describe('Upcoming bookings that were cancelled before the erasure'),
        bookings: count,
        contacts: count,
        contact_events: count,
        visits: count,
        room_passes: count,
        invitations: count,
        mail: count,
        events: count.describe('Events whose personal fields were erased'),
        webhook_messages: count.describe('Messages whose personal fields and recorded responses were erased'),
        callbacks: count,
        audit_entries: count.describe('Entries whose personal fields were erased. Always 0 for an admin'),
      })
      .describe('How many records of each kind this call erased'),
    is_member: flag.describe('1 if a member of the workspace has the address. The membership is not erased'),
  })
  .meta({ id: 'ErasedPerson' });
export type ErasedPerson = z.infer<typeof ErasedPerson>;
