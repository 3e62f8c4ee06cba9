/** The contacts' CSV in the OpenAPI document: operations that no procedure describes. */

export const CONTACTS_EXPORT_PATH = '/api/workspaces/{id}/contacts.csv';
export const CONTACTS_IMPORT_PATH = '/api/workspaces/{id}/contacts/import';

const shared = {
  tags: ['Contacts'],
  security: [{ bearer: [] }, { cookie: [] }],
  parameters: [
    {
      in: 'path',
      name: 'id',
      required: true,
      description: 'Workspace ID',
      schema: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
    },
  ],
};

const EXAMPLE = 'name,email\r\nVera Novak,vera@example.com\r\n';

/** Refusals of both, beyond which the import has its own. */
export const exportStatuses = [400, 401, 403, 404, 429, 500, 503] as const;
export const importStatuses = [...exportStatuses, 408, 409, 413, 415] as const;

export function contactsExportOperation(refusals: object) {
  return {
    ...shared,
    operationId: 'contactsExport',
    summary: 'Export contacts as CSV',
    description:
      'Owner or admin. All contacts as an attachment: `id`, `name`, `email`, `created_at` (RFC 4180, UTF-8). A cell that a spreadsheet would take for a formula begins with a single quote, which the import takes off again.',
    responses: {
      200: {
        description: 'The file',
        content: {
          'text/csv': {
            schema: { type: 'string' },
            example: 'id,name,email,created_at\r\n1,Vera Novak,vera@example.com,1767225600\r\n',
          },
        },
      },
      ...refusals,
    },
  };
}

export function contactsImportOperation(refusals: object) {
  return {
    ...shared,
    operationId: 'contactsImport',
    summary: 'Import contacts from CSV',
    description:
      'Owner or admin. UTF-8, comma or semicolon, at most 10 MiB; the first row names the columns: `email`, and optionally `name`. Who is there already gets the name of the file; rows that are no contact are skipped and named. More than 100,000 rows, or 1,000 that are no contact, are refused. Rows are written as they come: what stood before the place at which a file is refused stays, and the same file may be sent again. 409 while another import runs in the workspace, 503 while others run elsewhere, both with `Retry-After`.',
    requestBody: { required: true, content: { 'text/csv': { schema: { type: 'string' }, example: EXAMPLE } } },
    responses: {
      200: {
        description: 'What became of the rows',
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ContactImport' } } },
      },
      ...refusals,
    },
  };
}
