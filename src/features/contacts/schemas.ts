import { z } from 'zod';
import { bom } from '../../core/byte-order-mark.ts';
import { createdRange } from '../../core/list-filters.ts';
import { cursor, nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { MINUTE_MS } from '../../core/time.ts';
import {
  count,
  email as emailAddress,
  exactText,
  id,
  integerBetween,
  integerFrom,
  MAX_NAME_LENGTH,
  optional,
  requiredText,
  searchText,
  unixSeconds,
} from '../../core/validation.ts';

/** The maximum number of events returned with a contact. */
export const MAX_EVENTS = 100;
/** As in the check constraint of the table. */
const MAX_EVENT_TYPE_LENGTH = 64;

export const ExportContactsQuery = z.object({ bom });
export type ExportContactsQuery = z.infer<typeof ExportContactsQuery>;

const contactName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('At most 100 characters')
  .meta({ example: 'Vera Novak' });

/** Normalized in the same way as the email address of an account, so that the two can be compared. */
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
    description: 'A person who has joined a room or booked a meeting, or whom an owner or admin has added or imported',
  });
export type Contact = z.infer<typeof Contact>;

const ListedContact = Contact.extend({
  email_verified: z
    .boolean()
    .describe(
      'Whether a user has confirmed this address, and is a member of the workspace or has joined one of its rooms',
    ),
}).meta({ id: 'ListedContact', description: 'A contact, including whether its address is confirmed' });
export type ListedContact = z.infer<typeof ListedContact>;

export const ContactEvent = z
  .object({
    id: integerFrom(1),
    type: z.string().describe('Such as `room_join`, `booking` or `booking_cancelled`').meta({ example: 'room_join' }),
    room_id: id.nullable(),
    room_name: z.string().nullable().describe('null if the event has no room or the room was deleted'),
    room_display_name: z.string().nullable().describe('The display name of the room; null if it has none'),
    booking_page_id: id.nullable(),
    booking_page_title: z.string().nullable().describe('null if the event has no page or the page was deleted'),
    created_at: unixSeconds,
  })
  .meta({ id: 'ContactEvent', description: 'An event of a contact' });
export type ContactEvent = z.infer<typeof ContactEvent>;

export const ListContactEventsInput = z.object({
  type: exactText(MAX_EVENT_TYPE_LENGTH).describe('Only events of this type').meta({ example: 'room_join' }).optional(),
  room_id: requestedId.describe('Only events of this room').optional(),
  booking_page_id: requestedId.describe('Only events of this booking page').optional(),
  ...createdRange,
  limit: integerBetween(1, 100).default(50).describe('Maximum number of events'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of events to skip'),
  cursor,
});
export type ListContactEventsInput = z.infer<typeof ListContactEventsInput>;

export const ListContactsInput = z.object({
  search: searchText()
    .describe(
      'Part of the name or of the email address, case-insensitive. Without three consecutive letters or digits, only ' +
        'the newest 10,000 contacts are searched',
    )
    .optional(),
  ...createdRange,
  limit: integerBetween(1, 100).default(50).describe('Maximum number of contacts'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('Number of contacts to skip'),
  cursor,
});
export type ListContactsInput = z.infer<typeof ListContactsInput>;

export const CreateContactInput = z.object({ name: contactName, email }).meta({ id: 'CreateContactRequest' });
export type CreateContactInput = z.infer<typeof CreateContactInput>;

export const ContactInput = z.object({ contactId: requestedId.describe('Contact ID') });
export type ContactInput = z.infer<typeof ContactInput>;

export const UpdateContactInput = ContactInput.extend({ name: optional(contactName), email: optional(email) }).meta({
  id: 'UpdateContactRequest',
});
export type UpdateContactInput = z.infer<typeof UpdateContactInput>;

export const ContactsAnswer = z
  .object({
    contacts: z.array(ListedContact),
    total: count.describe(
      'Number of matching contacts, regardless of limit, offset and cursor; with a filter, at most 10,000',
    ),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ContactPage' });
export type ContactsAnswer = z.infer<typeof ContactsAnswer>;
export const ListedContactEvent = ContactEvent.extend({
  contact: z
    .object({ id, name: z.string() })
    .nullable()
    .describe('null for a person without an email address, and after the contact was deleted'),
}).meta({ id: 'ListedContactEvent', description: 'An event, and the contact that it is about' });
export type ListedContactEvent = z.infer<typeof ListedContactEvent>;

export const ContactEventsAnswer = z
  .object({
    events: z.array(ListedContactEvent),
    total: count.describe('Number of matching events, regardless of limit, offset and cursor; at most 10,000'),
    next_cursor: nextCursor,
  })
  .meta({ id: 'ContactEventPage' });
export type ContactEventsAnswer = z.infer<typeof ContactEventsAnswer>;
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
/** The maximum time for receiving a CSV file. During this time, the workspace cannot run another import. */
export const MAX_IMPORT_MS = 5 * MINUTE_MS;
/** The maximum number of invalid rows. A file with more invalid rows is probably not a list of contacts. */
export const MAX_INVALID_ROWS = 1_000;
/** The maximum number of invalid rows in the response. */
export const MAX_LISTED_PROBLEMS = 100;

export const ImportAnswer = z
  .object({
    created: integerFrom(0, MAX_ROWS).describe('Number of rows that created a contact'),
    updated: integerFrom(0, MAX_ROWS).describe(
      'Number of rows for existing contacts. Each contact gets the name from its last row in the file',
    ),
    skipped: z
      .array(
        z
          .object({
            line: integerFrom(1, MAX_CSV_BYTES).describe('Line where the row starts; the first line of the file is 1'),
            problem: z.string().meta({ example: 'email must be a valid email address' }),
          })
          .meta({ id: 'SkippedRow', description: 'An invalid row of a CSV file' }),
      )
      .max(MAX_LISTED_PROBLEMS)
      .describe(`The first ${MAX_LISTED_PROBLEMS} invalid rows`),
    skipped_count: integerFrom(0, MAX_INVALID_ROWS).describe('Number of invalid rows'),
  })
  .meta({ id: 'ContactImport', description: 'The result of a contact import' });
export type ImportAnswer = z.infer<typeof ImportAnswer>;
