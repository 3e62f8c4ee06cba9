/** The audit log of the workspace: who did what, with filters, exports and its verification. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { Download, ScrollText, ShieldCheck } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { Menu, MenuLink } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { InfiniteTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { trpc } from '../../../lib/client.ts';
import { useHasRole, useWorkspace } from '../../../lib/workspace.ts';
import { AuditFilters } from './-audit/AuditFilters.tsx';
import { actionLabels, actorName, type Entry, type Filters, toFilters } from './-audit/audit.ts';
import { EntryDialog } from './-audit/EntryDialog.tsx';
import { parseSearch } from './-audit/search.ts';
import { VerifyDialog } from './-audit/VerifyDialog.tsx';

const PAGE_SIZE = 50;

export const Route = createFileRoute('/w/$workspaceId/audit')({ validateSearch: parseSearch, component: AuditPage });

function AuditPage() {
  const isAdmin = useHasRole('admin');
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const [isVerifying, setIsVerifying] = useState(false);
  return (
    <>
      <PageHeader
        title="Audit log"
        text="Who did what in this workspace"
        actions={
          isAdmin && (
            <>
              <ExportMenu filters={toFilters(search)} />
              <Button icon={<ShieldCheck aria-hidden size={16} />} onClick={() => setIsVerifying(true)}>
                Verify
              </Button>
            </>
          )
        }
      />
      <RoleGate min="admin" to="read the audit log">
        <AuditFilters search={search} onChange={(next) => navigate({ search: next, replace: true })} />
        <EntryTable filters={toFilters(search)} onFilterBy={(who) => navigate({ search: { ...search, who } })} />
      </RoleGate>
      {isVerifying && <VerifyDialog onClose={() => setIsVerifying(false)} />}
    </>
  );
}

/** The files are made by the service, which sends them as it reads the log. */
function ExportMenu({ filters }: { filters: Filters }) {
  const { id } = useWorkspace();
  const query = Object.entries(filters).map(([name, value]) => [name, String(value)]);
  const toUrl = (file: string, more: string[][] = []) =>
    `/api/workspaces/${id}/${file}?${new URLSearchParams([...query, ...more])}`;
  const isFiltered = query.length > 0;
  return (
    <Menu trigger={<Button icon={<Download aria-hidden size={16} />}>{isFiltered ? 'Export these' : 'Export'}</Button>}>
      <MenuLink
        link={
          <a href={toUrl('audit.csv', [['bom', 'true']])} download>
            As CSV
          </a>
        }
      >
        As CSV
      </MenuLink>
      <MenuLink
        link={
          <a href={toUrl('audit.jsonl')} download>
            As JSON lines
          </a>
        }
      >
        As JSON lines
      </MenuLink>
    </Menu>
  );
}

type EntryTableProps = { filters: Filters; onFilterBy: (who: string) => void };

function EntryTable({ filters, onFilterBy }: EntryTableProps) {
  const { id } = useWorkspace();
  const [open, setOpen] = useState<Entry | null>(null);
  const entries = useInfiniteQuery({
    ...trpc.audit.list.infiniteQueryOptions(
      { id, limit: PAGE_SIZE, ...filters },
      { getNextPageParam: (page) => page.next_cursor },
    ),
    // Somebody who changes a filter expects the latest entries.
    staleTime: 0,
  });
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <>
      <InfiniteTable
        list={entries}
        rowsOf={(page) => page.entries}
        failure="The log could not be loaded"
        empty={
          <EmptyState
            icon={<ScrollText aria-hidden size={32} />}
            title={isFiltered ? 'Nothing matches' : 'Nothing is recorded yet'}
          >
            {isFiltered
              ? 'Choose other filters, or clear them.'
              : 'Changes to members, roles, keys and webhooks appear here, as do deletions.'}
          </EmptyState>
        }
        caption="Entries"
        keyOf={(entry) => entry.id}
        columns={[
          { heading: 'Time', cell: ({ created_at }) => <Time at={created_at} /> },
          { heading: 'Who', cell: actorName, className: 'min-w-32' },
          {
            heading: 'What',
            className: 'min-w-48',
            cell: ({ action, target }) => (
              <>
                {actionLabels[action]}
                <span className="block text-sm text-muted">{target.name ?? (target.id && `ID ${target.id}`)}</span>
              </>
            ),
          },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-24 py-1',
            cell: (entry) => (
              <Button
                size="small"
                aria-label={`Details of ${actionLabels[entry.action]}, entry ${entry.sequence ?? entry.id}`}
                onClick={() => setOpen(entry)}
              >
                Details
              </Button>
            ),
          },
        ]}
      />
      {open !== null && (
        <EntryDialog
          entry={open}
          onClose={() => setOpen(null)}
          onFilterBy={(who) => {
            setOpen(null);
            onFilterBy(who);
          }}
        />
      )}
    </>
  );
}
