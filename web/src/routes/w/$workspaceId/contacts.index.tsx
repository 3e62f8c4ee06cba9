/** The contacts of the workspace: search, create, import, export. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { Contact as ContactIcon, Download, Ellipsis, Plus, ShieldUser, Upload } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../components/Button.tsx';
import { Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { Menu, MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SearchField } from '../../../components/SearchField.tsx';
import { InfiniteTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { formatDateTime, formatNumber } from '../../../lib/format.ts';
import { saveFile } from '../../../lib/save-file.ts';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { showError } from '../../../lib/toasts.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { CreateContactForm } from './-contacts/ContactForm.tsx';
import { ImportDialog } from './-contacts/ImportDialog.tsx';
import { PersonDialog } from './-contacts/PersonDialog.tsx';
import { VerifiedBadge } from './-contacts/VerifiedBadge.tsx';

type OpenDialog = 'create' | 'import' | 'person' | null;

/** `from` and `to` are the bounds of when the contacts were created, in Unix seconds. */
type Search = { search?: string; from?: number; to?: number };

const PAGE_SIZE = 50;
/** A search or a range counts no further. */
const MAX_COUNTED = 10_000;

export const Route = createFileRoute('/w/$workspaceId/contacts/')({
  validateSearch: ({ search, from, to }: Record<string, unknown>): Search => ({
    ...(typeof search === 'string' && search !== '' && { search }),
    ...(typeof from === 'number' && { from }),
    ...(typeof to === 'number' && { to }),
  }),
  component: ContactsPage,
});

function ContactsPage() {
  const id = useWorkspaceId();
  const mayWrite = useHasRole('admin');
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const [isExporting, setIsExporting] = useState(false);
  const close = (): void => setDialog(null);

  async function exportAll(): Promise<void> {
    setIsExporting(true);
    try {
      saveFile(await client.exportContacts({ id, bom: true }), 'contacts.csv');
    } catch (error) {
      showError('Could not export the contacts', error);
    } finally {
      setIsExporting(false);
    }
  }

  return (
    <>
      <PageHeader
        title="Contacts"
        text="People who joined a room, booked a meeting, or were added"
        actions={
          mayWrite && (
            <>
              <Button icon={<Upload aria-hidden size={16} />} onClick={() => setDialog('import')}>
                Import
              </Button>
              <Button icon={<Download aria-hidden size={16} />} isPending={isExporting} onClick={exportAll}>
                Export
              </Button>
              <Button
                tone="primary"
                icon={<Plus aria-hidden size={18} />}
                aria-keyshortcuts={CREATE_KEY}
                onClick={() => setDialog('create')}
              >
                New contact
              </Button>
              <Menu trigger={<IconButton label="More" icon={<Ellipsis aria-hidden size={18} />} />}>
                <MenuItem icon={<ShieldUser aria-hidden size={16} />} onSelect={() => setDialog('person')}>
                  Data about a person
                </MenuItem>
              </Menu>
            </>
          )
        }
      />
      <ContactList />
      {dialog === 'create' && (
        <Dialog onClose={close} title="New contact">
          <CreateContactForm onDone={close} />
        </Dialog>
      )}
      {dialog === 'import' && <ImportDialog onClose={close} />}
      {dialog === 'person' && <PersonDialog onClose={close} />}
    </>
  );
}

/** The text of the search is in the address, so that the way back from a contact leads to what was found. */
function ContactList() {
  const id = useWorkspaceId();
  const { search = '', ...range } = Route.useSearch();
  const isRange = range.from !== undefined || range.to !== undefined;
  const navigate = useNavigate({ from: Route.fullPath });
  const contacts = useInfiniteQuery({
    ...trpc.contacts.list.infiniteQueryOptions(
      { id, limit: PAGE_SIZE, ...range, ...(search !== '' && { search }) },
      { getNextPageParam: (page) => page.next_cursor },
    ),
    // What was found before stays until the next is there.
    placeholderData: keepPreviousData,
  });
  const total = contacts.data?.pages[0]?.total;
  return (
    <>
      <search className="mb-4 flex flex-wrap items-center gap-x-4 gap-y-2">
        <SearchField
          label="Search contacts"
          placeholder="Name or email address"
          value={search}
          onSearch={(text) =>
            void navigate({ search: text === '' ? range : { ...range, search: text }, replace: true })
          }
        />
        <p role="status" className="text-sm text-muted">
          {total !== undefined && !contacts.isPlaceholderData && countContacts(total, search !== '' || isRange)}
        </p>
        {isRange && (
          <Button onClick={() => void navigate({ search: search === '' ? {} : { search }, replace: true })}>
            {`${describeRange(range)}: show all`}
          </Button>
        )}
      </search>
      <InfiniteTable
        list={contacts}
        rowsOf={(page) => page.contacts}
        failure="The contacts could not be loaded"
        empty={<NoContacts search={search} isRange={isRange} />}
        caption="Contacts"
        keyOf={(contact) => contact.id}
        columns={[
          {
            heading: 'Name',
            className: 'min-w-40',
            cell: (contact) => (
              <Link
                to="/w/$workspaceId/contacts/$contactId"
                params={{ workspaceId: String(id), contactId: String(contact.id) }}
                className="link font-medium wrap-anywhere"
              >
                {contact.name}
              </Link>
            ),
          },
          {
            heading: 'Email',
            className: 'min-w-64 wrap-anywhere',
            cell: ({ email }) => email,
          },
          {
            heading: 'Address',
            className: 'whitespace-nowrap',
            cell: (contact) => <VerifiedBadge isVerified={contact.email_verified} />,
          },
          { heading: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
    </>
  );
}

function describeRange({ from, to }: Search): string {
  const bounds = [from !== undefined && `from ${formatDateTime(from)}`, to !== undefined && `to ${formatDateTime(to)}`];
  return `Added ${bounds.filter(Boolean).join(' ')}`;
}

function countContacts(total: number, isFiltered: boolean): string {
  const number = `${formatNumber(total)}${isFiltered && total >= MAX_COUNTED ? ' or more' : ''}`;
  return `${number} ${total === 1 ? 'contact' : 'contacts'}`;
}

function NoContacts({ search, isRange }: { search: string; isRange: boolean }) {
  const mayWrite = useHasRole('admin');
  const icon = <ContactIcon aria-hidden size={32} />;
  if (search !== '') return <EmptyState icon={icon} title={`No contact matches “${search}”`} />;
  if (isRange) return <EmptyState icon={icon} title="No contact was added then" />;
  return (
    <EmptyState icon={icon} title="There are no contacts yet">
      {mayWrite
        ? 'People appear here when they join a room or book a meeting. You can also add or import them.'
        : 'People appear here when they join a room or book a meeting.'}
    </EmptyState>
  );
}
