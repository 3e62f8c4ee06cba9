import { Ok } from '../core/shapes.ts';
import { createContact, deleteContact, updateContact } from '../features/contacts/contacts.ts';
import { listContacts, readContact } from '../features/contacts/read-contacts.ts';
import {
  ContactAnswer,
  ContactInput,
  ContactReadAnswer,
  ContactsAnswer,
  CreateContactInput,
  ListContactsInput,
  UpdateContactInput,
} from '../features/contacts/schemas.ts';
import { inWorkspace, router } from '../trpc/trpc.ts';

const tags = ['Contacts'];

export const contactsRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/contacts',
        tags,
        summary: 'List contacts',
        description: 'Newest first, a page at a time.',
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
        description: 'With what they did, newest first.',
      },
    })
    .input(ContactInput)
    .output(ContactReadAnswer)
    .query(({ ctx, input }) => readContact(ctx.services, ctx.actor, input)),

  create: inWorkspace('admin')
    .meta({
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/contacts',
        tags,
        summary: 'Create a contact',
        description: 'Owner or admin. 409 when the workspace has a contact with this email address.',
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
        summary: 'Change a contact',
        description: 'Owner or admin. Only sent fields change. 409 when another contact has the email address.',
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
        description: 'Owner or admin. What they did stays counted in analytics.',
      },
    })
    .input(ContactInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteContact(ctx.services, ctx.actor, input)),
});
