import { z } from 'zod';
import { MINUTE_MS } from '../../core/time.ts';
import {
  email as emailAddress,
  id,
  integerBetween,
  MAX_NAME_LENGTH,
  requiredText,
  unixSeconds,
} from '../../core/validation.ts';

const MAX_SEARCH = 200;
/** What reading a contact shows of what they did. */
export const MAX_EVENTS = 100;

const contactName = requiredText(MAX_NAME_LENGTH, 'Name is required')
  .describe('At most 100 characters')
  .meta({ example: 'Vera Novak' });

/** The same as for an account: a contact who registers is recognised by it. */
const email = emailAddress
  .describe('Unique in the workspace; upper and lower case are the same')
  .meta({ example: 'vera@example.com' });

export const Contact = z
  .object({
    id,
    workspace_id: id,
    name: z.string(),
    email: z.string().describe('Lower-cased'),
    created_at: unixSeconds,
  })
  .meta({ id: 'Contact', description: 'Somebody who joined a room, booked a meeting, or was entered by hand' });
export type Contact = z.infer<typeof Contact>;

export const ContactEvent = z
  .object({
    id: z.int(),
    type: z.string().describe('`room_join`, `booking`, `booking_cancelled` or another').meta({ example: 'room_join' }),
    room_id: id.nullable(),
    room_name: z.string().nullable().describe('null: no room, or one that was deleted'),
    booking_page_id: id.nullable(),
    booking_page_title: z.string().nullable().describe('null: no page, or one that was deleted'),
    created_at: unixSeconds,
  })
  .meta({ id: 'ContactEvent', description: 'What a contact did' });
export type ContactEvent = z.infer<typeof ContactEvent>;

export const ListContactsInput = z.object({
  search: z
    .string()
    .max(MAX_SEARCH, { error: `search must have at most ${MAX_SEARCH} characters` })
    .refine((value) => value.isWellFormed() && !value.includes('\u0000'), {
      error: 'search must not contain NUL or invalid Unicode',
    })
    .describe('Case-insensitive part of the name or the email address')
    .optional(),
  limit: integerBetween(1, 100).default(50).describe('Maximum number of contacts'),
  offset: integerBetween(0, 2_147_483_647).default(0).describe('How many contacts to skip'),
});
export type ListContactsInput = z.infer<typeof ListContactsInput>;

export const CreateContactInput = z.object({ name: contactName, email });
export type CreateContactInput = z.infer<typeof CreateContactInput>;

export const ContactInput = z.object({ contactId: id.describe('Contact ID') });
export type ContactInput = z.infer<typeof ContactInput>;

export const UpdateContactInput = ContactInput.extend({ name: contactName.optional(), email: email.optional() });
export type UpdateContactInput = z.infer<typeof UpdateContactInput>;

export const ContactsAnswer = z.object({
  contacts: z.array(Contact),
  total: z.int().min(0).describe('How many there are in all, or match the search'),
});
export type ContactsAnswer = z.infer<typeof ContactsAnswer>;
export const ContactAnswer = z.object({ contact: Contact });
export const ContactReadAnswer = z.object({
  contact: Contact,
  events: z.array(ContactEvent).describe(`What they did, newest first, at most ${MAX_EVENTS}`),
});
export type ContactReadAnswer = z.infer<typeof ContactReadAnswer>;

/** Of a file of contacts, without the header and without blank rows. */
export const MAX_ROWS = 100_000;
/** The largest CSV file. */
export const MAX_CSV_BYTES = 10 * 1024 * 1024;
/** How long a CSV file may take to arrive. A slow import keeps others waiting. */
export const MAX_IMPORT_MS = 5 * MINUTE_MS;
/** With more rows that are no contact it is not a file of contacts. */
export const MAX_BAD_ROWS = 1_000;
/** So many rows that are no contact are named. */
export const MAX_NAMED_PROBLEMS = 100;

export const ImportAnswer = z
  .object({
    created: z.int().min(0).describe('Rows that made a contact'),
    updated: z.int().min(0).describe('Rows whose address the workspace had: the contact has the name of the last one'),
    skipped: z
      .array(
        z.object({
          line: z.int().min(1).describe('Line of the file in which the row begins; the first one is 1'),
          problem: z.string().meta({ example: 'email must be a valid email address' }),
        }),
      )
      .max(MAX_NAMED_PROBLEMS)
      .describe(`Rows that are no contact, the first ${MAX_NAMED_PROBLEMS}`),
    skipped_count: z.int().min(0).max(MAX_BAD_ROWS).describe('How many rows are no contact'),
  })
  .meta({ id: 'ContactImport', description: 'What became of the rows of a CSV file of contacts' });
export type ImportAnswer = z.infer<typeof ImportAnswer>;
