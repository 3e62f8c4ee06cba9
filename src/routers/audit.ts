import { eraseAudit } from '../features/audit/erase-audit.ts';
import { exportAuditCsv, exportAuditLines } from '../features/audit/export-audit.ts';
import { listAudit, verifyAudit } from '../features/audit/read-audit.ts';
import {
  AuditCsvQuery,
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
          'Owner or admin. Returns who did what in the workspace, newest first: changes to members, roles, ' +
          'invitations, API keys, webhooks, connections and retention, and exports and deletions.',
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
        successDescription: 'The range that was checked, and the problems found',
        description:
          'Owner or admin. Recomputes the hash chain, at most 10,000 entries per call. Each entry must match the ' +
          'hash of the previous entry, the sequence must have no gaps, and the first and the last entry must be ' +
          'those that the service has recorded in encrypted form.',
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
        successDescription: 'The number of entries from which fields were erased',
        description:
          'Owner only. Erases the name and network addresses of a user from the log. The entries keep the user ID ' +
          'and the action, and the log can still be verified. The erasure itself is logged.',
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
  query: AuditCsvQuery,
  tags,
  summary: 'Export the audit log as CSV',
  description:
    'Owner or admin. Returns the entries that match the filters (default: all), oldest first, as an attachment (RFC ' +
    '4180, UTF-8). `before` and `after` contain JSON. A cell that a spreadsheet would run as a formula is prefixed ' +
    'with a single quote.',
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
    'Owner or admin. Returns the entries that match the filters (default: all), oldest first, as an attachment with ' +
    'one JSON object per line.',
  access: workspaceMember('admin'),
  request: { kind: 'none' },
  response: { kind: 'jsonl', filename: 'audit-log.jsonl', description: 'The entries, one per line' },
  handle: ({ services, caller, query }) => exportAuditLines(services, caller, query),
});
