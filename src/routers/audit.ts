import { eraseAudit } from '../features/audit/erase-audit.ts';
import { exportAuditCsv, exportAuditLines } from '../features/audit/export-audit.ts';
import { listAudit, verifyAudit } from '../features/audit/read-audit.ts';
import {
  AuditFilters,
  AuditPage,
  AuditVerification,
  EraseAuditInput,
  ErasedAudit,
  ListAuditInput,
  VerifyAuditInput,
} from '../features/audit/schemas.ts';
import { inWorkspace, inWorkspaceBySession, router } from '../trpc/procedures.ts';
import { rawOperation, WorkspaceParams, workspaceMember } from '../trpc/raw-operation.ts';

const tags = ['Audit log'];

export const auditRouter = router({
  list: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/audit',
        tags,
        summary: 'List the audit log',
        successDescription: 'A page of entries',
        description:
          'Owner or admin. Who did what in the workspace, newest first: members, roles, invitations, API keys, ' +
          'webhooks, connections, retention, exports and deletions.',
      },
    })
    .input(ListAuditInput)
    .output(AuditPage)
    .query(({ ctx, input }) => listAudit(ctx.services, ctx.actor, input)),

  verify: inWorkspace('admin')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/audit/verify',
        tags,
        summary: 'Verify the audit log',
        successDescription: 'What was checked, and what is wrong',
        description:
          'Owner or admin. Recomputes the chain of hashes, at most 10,000 entries a call: each entry must fit the ' +
          'one before, no number may be missing, and the log must begin and end where the service last sealed it.',
      },
    })
    .input(VerifyAuditInput)
    .output(AuditVerification)
    .query(({ ctx, input }) => verifyAudit(ctx.services, ctx.actor, input)),

  erase: inWorkspaceBySession('owner')
    .meta({
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/audit/erase',
        tags,
        summary: 'Erase a person from the audit log',
        successDescription: 'How many entries had personal fields of the user',
        description:
          'Owner only. Erases the name and network addresses of a user from the entries. What they did remains, with ' +
          'their ID, and the log can still be verified. The log records the erasure.',
      },
    })
    .input(EraseAuditInput)
    .output(ErasedAudit)
    .mutation(({ ctx, input }) => eraseAudit(ctx.services, ctx.actor, input)),
});

export const auditExport = rawOperation({
  name: 'audit.export',
  method: 'GET',
  path: '/api/workspaces/{id}/audit.csv',
  params: WorkspaceParams,
  query: AuditFilters,
  tags,
  summary: 'Export the audit log as CSV',
  description:
    'Owner or admin. Returns all entries, or those that match the filters, as an attachment, oldest first (RFC 4180, ' +
    'UTF-8). `before` and `after` are JSON. A cell that a spreadsheet would run as a formula is prefixed with a ' +
    'single quote.',
  access: workspaceMember('admin'),
  request: { kind: 'none' },
  response: { kind: 'csv', filename: 'audit-log.csv', description: 'The CSV file' },
  handle: ({ services, caller, query }) => exportAuditCsv(services, caller, query),
});

export const auditExportLines = rawOperation({
  name: 'audit.exportLines',
  method: 'GET',
  path: '/api/workspaces/{id}/audit.jsonl',
  params: WorkspaceParams,
  query: AuditFilters,
  tags,
  summary: 'Export the audit log as JSON lines',
  description:
    'Owner or admin. Returns all entries, or those that match the filters, as an attachment, oldest first, one JSON ' +
    'object a line.',
  access: workspaceMember('admin'),
  request: { kind: 'none' },
  response: { kind: 'jsonl', filename: 'audit-log.jsonl', description: 'The entries, one a line' },
  handle: ({ services, caller, query }) => exportAuditLines(services, caller, query),
});
