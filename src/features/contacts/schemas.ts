import { z } from 'zod';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { MINUTE_MS } from '../../core/time.ts';
import {
  count,
  email as emailAddress,
  id,
  integerBetween,
  integerFrom,
  MAX_NAME_LENGTH,
  optional,
  requiredText,
  searchText,
  unixSeconds,
} from '../../core/validation.ts';

/** The maximum number of events that are returned with a contact. */
export const MAX_EVENTS = 100;

const contactName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('At most 100 characters')
  .meta({ example: 'Vera Novak' });

/** Normalized like the email address of an account, so that both can be compared. */
const email = emailAddress.describe('Unique in the workspace, case-insensitive').meta({ example: 'vera@example.com' });

export const Contact = z
  .object({
    id,
    workspace_id: id,
    name: z.string(),
    email: z.string().describe('In lower case'),
    created_at: unixSeconds,
  })
  .meta({
    id: 'Contact',
    description: 'A person who joined a room, booked a meeting, or was added or imported by an owner or admin',
  });
export type Contact = z.infer<typeof Contact>;

const ListedContact = Contact.extend({
  email_verified: z
    .boolean()
    .describe(
      'Whether the address is confirmed and belongs to a member of the workspace, or to a user who has joined one of ' +
        'its rooms',
    ),
}).meta({ id: 'ListedContact', description: 'A contact, and whether their address is confirmed' });
export type ListedContact = z.infer<typeof ListedContact>;

export const ContactEvent = z
  .object({
    id: integerFrom(1),
    type: z.string().describe('Such as `room_join`, `booking` or `booking_cancelled`').meta({ example: 'room_join' }),
    room_id: id.nullable(),
    room_name: z.string().nullable().describe('null if the event has no room or the room was deleted'),
    booking_page_id: id.nullable(),
    booking_page_title: z.string().nullable().describe('null if the event has no page or the page was deleted'),
    created_at: unixSeconds,
  })
  .meta({ id: 'ContactEvent', description: 'Something that a contact did' });
export type ContactEvent = z.infer<typeof ContactEvent>;

export const ListContactsInput = z.object({
  search: searchText()
    .describe(
      'Part of the name or of the email address, case-insensitive. Without three letters or digits in a row, only ' +
        'the newest 10,000 contacts are searched',
    )
    .optional(),
  limit: integerBetween(1, 100).default(50).describe('Maximum number of contacts'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('How many contacts to skip'),
  cursor,
});
export type ListContactsInput = z.infer<typeof ListContactsInput>;

export const CreateContactInput = z.object({ name: contactName, email }).meta({ id: 'CreateContactRequest' });
export type CreateContactInput = z.infer<typeof CreateContactInput>;

export const ContactInput = z.object({ contactId: id.describe('Contact ID') });
export type ContactInput = z.infer<typeof ContactInput>;

export const UpdateContactInput = ContactInput.extend({ name: optional(contactName), email: optional(email) }).meta({
  id: 'UpdateContactRequest',
});
export type UpdateContactInput = z.infer<typeof UpdateContactInput>;

export const ContactsAnswer = z
  .object({
    contacts: z.array(ListedContact),
    total: count.describe(
      'Number of matching contacts, independent of limit, offset and cursor; with a search at most 10,000',
    ),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ContactPage' });
export type ContactsAnswer = z.infer<typeof ContactsAnswer>;
export const ContactAnswer = z.object({ contact: Contact }).meta({ id: 'ContactResponse' });
export const ContactReadAnswer = z
  .object({
    contact: ListedContact,
    events: z.array(ContactEvent).describe(`The latest ${MAX_EVENTS} events, newest first`),
  })
  .meta({ id: 'ContactWithEvents' });
export type ContactReadAnswer = z.infer<typeof ContactReadAnswer>;

/** The maximum number of rows of a CSV file, not counting the header and blank rows. */
export const MAX_ROWS = 100_000;
/** The maximum size of a CSV file. */
export const MAX_CSV_BYTES = 10 * 1024 * 1024;
/** The maximum time for receiving a CSV file. Meanwhile its workspace cannot run another import. */
export const MAX_IMPORT_MS = 5 * MINUTE_MS;
/** The maximum number of invalid rows. A file with more of them is probably not a list of contacts. */
export const MAX_INVALID_ROWS = 1_000;
/** The maximum number of invalid rows that are listed. */
export const MAX_LISTED_PROBLEMS = 100;

export const ImportAnswer = z
  .object({
    created: integerFrom(0, MAX_ROWS).describe('Number of rows that created a contact'),
    updated: integerFrom(0, MAX_ROWS).describe(
      'Number of rows for an existing contact, which gets the name of the last such row',
    ),
    skipped: z
      .array(
        z
          .object({
            line: integerFrom(1, MAX_CSV_BYTES).describe('Line of the file where the row starts; the first line is 1'),
            problem: z.string().meta({ example: 'email must be a valid email address' }),
          })
          .meta({ id: 'SkippedRow', description: 'A row of a CSV file that is invalid' }),
      )
      .max(MAX_LISTED_PROBLEMS)
      .describe(`The first ${MAX_LISTED_PROBLEMS} invalid rows`),
    skipped_count: integerFrom(0, MAX_INVALID_ROWS).describe('Number of invalid rows'),
  })
  .meta({ id: 'ContactImport', description: 'The result of an import of contacts' });
export type ImportAnswer = z.infer<typeof ImportAnswer>;
