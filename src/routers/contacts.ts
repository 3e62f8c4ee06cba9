import { Ok } from '../core/shapes.ts';
import { createContact, deleteContact, updateContact } from '../features/contacts/contacts.ts';
import { exportContacts } from '../features/contacts/export-contacts.ts';
import { importContacts } from '../features/contacts/import-contacts.ts';
import { listContactEvents } from '../features/contacts/list-contact-events.ts';
import { listContacts, readContact } from '../features/contacts/read-contacts.ts';
import {
  ContactAnswer,
  ContactEventsAnswer,
  ContactInput,
  ContactReadAnswer,
  ContactsAnswer,
  CreateContactInput,
  ExportContactsQuery,
  ImportAnswer,
  ListContactEventsInput,
  ListContactsInput,
  MAX_CSV_BYTES,
  MAX_IMPORT_MS,
  UpdateContactInput,
} from '../features/contacts/schemas.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';
import { rawOperation, WorkspaceParams, workspaceMember } from '../trpc/raw-operation.ts';

const tags = ['Contacts'];

export const contactsRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/contacts',
        tags,
        summary: 'List contacts',
        successDescription: 'A page of contacts, and the total number of matching contacts',
        description: 'Any member. Returns a page of contacts, newest first, and the total number of matching contacts.',
      },
    })
    .input(ListContactsInput)
    .output(ContactsAnswer)
    .query(({ ctx, input }) => listContacts(ctx.services, ctx.actor, input)),

  read: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/contacts/{contactId}',
        tags,
        summary: 'Read a contact',
        successDescription: 'The contact and its latest events',
        description: 'Any member. Returns the contact with its latest events.',
      },
    })
    .input(ContactInput)
    .output(ContactReadAnswer)
    .query(({ ctx, input }) => readContact(ctx.services, ctx.actor, input)),

  listEvents: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/contact-events',
        tags,
        summary: 'List contact events',
        successDescription: 'A page of contact events, and the total number of matching events',
        description:
          'Any member. Returns a page of the events that the analytics count, such as joins and bookings, newest ' +
          'first, and the total number of matching events.',
      },
    })
    .input(ListContactEventsInput)
    .output(ContactEventsAnswer)
    .query(({ ctx, input }) => listContactEvents(ctx.services, ctx.actor, input)),

  create: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/contacts',
        tags,
        summary: 'Create a contact',
        successDescription: 'The new contact',
        description: 'Owner or admin. 409 if the workspace already has a contact with this email address.',
      },
    })
    .input(CreateContactInput)
    .output(ContactAnswer)
    .mutation(async ({ ctx, input }) => ({ contact: await createContact(ctx.services, ctx.actor, input) })),

  update: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/contacts/{contactId}',
        tags,
        summary: 'Update a contact',
        successDescription: 'The updated contact',
        description:
          'Owner or admin. Changes only the fields that are sent. 409 if another contact has the email address.',
      },
    })
    .input(UpdateContactInput)
    .output(ContactAnswer)
    .mutation(async ({ ctx, input }) => ({ contact: await updateContact(ctx.services, ctx.actor, input) })),

  delete: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/contacts/{contactId}',
        tags,
        summary: 'Delete a contact',
        successDescription: 'The contact is deleted',
        description: 'Owner or admin. The analytics still count the events of the contact.',
      },
    })
    .input(ContactInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteContact(ctx.services, ctx.actor, input)),
});

export const contactsExport = rawOperation({
  name: 'contacts.export',
  method: 'GET',
  path: '/api/workspaces/{id}/contacts.csv',
  params: WorkspaceParams,
  query: ExportContactsQuery,
  tags,
  summary: 'Export contacts as CSV',
  description:
    'Owner or admin. Returns all contacts as an attachment with the columns `id`, `name`, `email` and `created_at` ' +
    '(RFC 4180, UTF-8). A cell that a spreadsheet would run as a formula is prefixed with a single quote, which the ' +
    'import removes.',
  access: workspaceMember('admin'),
  request: { kind: 'none' },
  response: {
    kind: 'csv',
    filename: 'contacts.csv',
    description: 'The CSV file',
  },
  handle: ({ services, caller, query }) => exportContacts(services, caller, query),
});

export const contactsImport = rawOperation({
  name: 'contacts.import',
  method: 'POST',
  path: '/api/workspaces/{id}/contacts/import',
  params: WorkspaceParams,
  tags,
  summary: 'Import contacts from CSV',
  description:
    'Owner or admin. The file is UTF-8, or UTF-16 with a byte order mark. Its fields are separated by commas, ' +
    'semicolons or tabs. It may be at most 10 MiB and have at most 100,000 rows. The first row names the columns: ' +
    '`email`, and optionally `name`. The names in exports of Google Contacts and Outlook are known too. An existing ' +
    'contact gets the name from the file. Invalid rows are skipped and listed; a file with more than 1,000 ' +
    'invalid rows is rejected. The rows are written in batches after the whole file has arrived. After an error, ' +
    'the batches already written remain, and the same file can be imported again. 409 while another import is ' +
    'running in the workspace, and 503 while too many other imports are running, both with `Retry-After`.',
  access: workspaceMember('admin'),
  request: {
    kind: 'csv',
    maxBytes: MAX_CSV_BYTES,
    maxDurationMs: MAX_IMPORT_MS,
    example: 'name,email\r\nVera Novak,vera@example.com\r\n',
  },
  response: { kind: 'json', schema: ImportAnswer, description: 'The number of created, updated and skipped rows' },
  refusals: [409],
  handle: ({ services, caller, body }) =>
    services.contactImports.run(caller, body, (file) => importContacts(services, caller, file)),
});
