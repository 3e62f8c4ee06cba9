import { erasePerson } from '../features/people/erase-person.ts';
import { exportAccount } from '../features/people/export-account.ts';
import { exportContact, exportParticipant, exportPerson } from '../features/people/export-person.ts';
import {
  AccountExport,
  AccountParams,
  ContactParams,
  ErasedPerson,
  ErasePersonInput,
  ParticipantParams,
  PersonExport,
  PersonQuery,
} from '../features/people/schemas.ts';
import { inWorkspaceBySession, router } from '../trpc/procedures.ts';
import {
  exporting,
  type RawResponse,
  rawOperation,
  recentlySignedIn,
  requirePathId,
  WorkspaceParams,
  workspaceMember,
} from '../trpc/raw-operation.ts';

const tags = ['Data about people'];

export const peopleRouter = router({
  erase: inWorkspaceBySession('admin')
    .meta({
      needsRecentSignIn: true,
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/people/erase',
        tags,
        summary: 'Erase a person by email address',
        successDescription: 'What was erased',
        description:
          'Owner or admin, with a recent sign-in. Cancels the upcoming bookings of the person with this address ' +
          'and ends their visits, then erases their contact, visits, bookings, invitations and mail, and their ' +
          'names and addresses in events, webhook messages and callbacks. If the caller is the owner, and the ' +
          'person is a former member, the person is erased from the audit log too. The call can be repeated, for ' +
          'example after a failure.',
      },
    })
    .input(ErasePersonInput)
    .output(ErasedPerson)
    .mutation(({ ctx, input }) => erasePerson(ctx.services, ctx.actor, input)),
});

const response: RawResponse = {
  kind: 'document',
  filename: 'person.json',
  schema: PersonExport,
  description: 'The JSON file',
};

const whatIsExported =
  'contact, visits, bookings, invitations, mail, events, webhook messages and callbacks of meeting providers. ' +
  'Secrets are not included. The file is streamed as it is generated: after a failure it ends before its closing ' +
  'brace.';

export const accountExport = rawOperation({
  name: 'people.exportAccount',
  method: 'GET',
  path: '/api/auth/export',
  params: AccountParams,
  tags,
  summary: 'Export the account',
  description:
    'Needs a recent sign-in. Returns what belongs to the account as one JSON file: profile, sessions, sign-in ' +
    'methods, memberships, keys, what the account created, visits, mail and logs. Secrets are not included.',
  access: exporting(recentlySignedIn),
  request: { kind: 'none' },
  response: { kind: 'document', filename: 'account.json', schema: AccountExport, description: 'The JSON file' },
  handle: ({ services, caller }) => exportAccount(services, caller),
});

export const personExport = rawOperation({
  name: 'people.export',
  method: 'GET',
  path: '/api/workspaces/{id}/people/export',
  params: WorkspaceParams,
  query: PersonQuery,
  tags,
  summary: 'Export data about a person by email address',
  description: `Owner or admin. Returns what the workspace holds about an address as one JSON file: ${whatIsExported}`,
  access: exporting(workspaceMember('admin')),
  request: { kind: 'none' },
  response,
  handle: ({ services, caller, query }) => exportPerson(services, caller, query.email),
});

export const contactExport = rawOperation({
  name: 'people.exportContact',
  method: 'GET',
  path: '/api/workspaces/{id}/contacts/{contactId}/export',
  params: ContactParams,
  tags,
  summary: 'Export a contact',
  description: `Owner or admin. Returns what the workspace holds about the address of a contact: ${whatIsExported}`,
  access: exporting(workspaceMember('admin', 'contactId')),
  request: { kind: 'none' },
  response,
  refusals: [404],
  handle: ({ services, caller, params }) => exportContact(services, caller, requirePathId(params, 'contactId')),
});

export const participantExport = rawOperation({
  name: 'people.exportParticipant',
  method: 'GET',
  path: '/api/workspaces/{id}/participants/{participantId}/export',
  params: ParticipantParams,
  tags,
  summary: 'Export a participant',
  description:
    'Owner or admin. Returns everything that the workspace holds about the address of the participant, or about this ' +
    `visit if the participant has no address: ${whatIsExported}`,
  access: exporting(workspaceMember('admin', 'participantId')),
  request: { kind: 'none' },
  response,
  refusals: [404],
  handle: ({ services, caller, params }) => exportParticipant(services, caller, requirePathId(params, 'participantId')),
});
