/** The booking pages of the workspace. */
import { createFileRoute, Link } from '@tanstack/react-router';
import { CalendarClock, Ellipsis, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button, IconButton } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { Menu, MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { WholeTable } from '../../../components/Table.tsx';
import { useAccount } from '../../../lib/session.ts';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { CreatePageForm } from './-booking/CreatePageForm.tsx';
import { DeletePageDialog } from './-booking/DeletePageDialog.tsx';
import { type BookingPage, summarizeDays } from './-booking/hours.ts';
import { formatMinutes } from './-booking/minutes.ts';
import { useBookingPages } from './-booking/use-booking-pages.ts';

export const Route = createFileRoute('/w/$workspaceId/booking-pages/')({ component: BookingPagesPage });

function BookingPagesPage() {
  const mayWrite = useHasRole('admin');
  const [isCreating, setIsCreating] = useState(false);
  return (
    <>
      <PageHeader
        title="Booking pages"
        text="Where guests choose a time and book a meeting"
        actions={
          mayWrite && (
            <Button
              tone="primary"
              icon={<Plus aria-hidden size={18} />}
              aria-keyshortcuts={CREATE_KEY}
              onClick={() => setIsCreating(true)}
            >
              New booking page
            </Button>
          )
        }
      />
      <PageTable />
      {isCreating && (
        <Dialog onClose={() => setIsCreating(false)} title="New booking page">
          <CreatePageForm />
        </Dialog>
      )}
    </>
  );
}

function PageTable() {
  const id = useWorkspaceId();
  const mayWrite = useHasRole('admin');
  const me = useAccount();
  const pages = useBookingPages();
  const [asked, setAsked] = useState<BookingPage | null>(null);
  return (
    <>
      <WholeTable
        caption="Booking pages"
        list={pages}
        rowsOf={(data) => data}
        failure="The booking pages could not be loaded"
        empty={
          <EmptyState icon={<CalendarClock aria-hidden size={32} />} title="There are no booking pages yet">
            {mayWrite ? 'Create the first with “New booking page”.' : 'The owner and admins create booking pages.'}
          </EmptyState>
        }
        keyOf={(page) => page.id}
        columns={[
          {
            heading: 'Page',
            className: 'min-w-48',
            cell: (page) => (
              <>
                <Link
                  to="/w/$workspaceId/booking-pages/$pageId"
                  params={{ workspaceId: String(id), pageId: String(page.id) }}
                  className="link font-medium wrap-anywhere"
                >
                  {page.title}
                </Link>{' '}
                {page.user_id === me?.id && <Badge tone="accent">Yours</Badge>}
                <span className="block text-sm wrap-anywhere text-muted">/book/{page.slug}</span>
              </>
            ),
          },
          { heading: 'Length', cell: ({ duration_minutes }) => formatMinutes(duration_minutes) },
          { heading: 'Open', className: 'min-w-32', cell: ({ hours }) => summarizeDays(hours) },
          { heading: 'Time zone', cell: ({ time_zone }) => time_zone.replaceAll('_', ' ') },
          {
            heading: 'Link',
            isHeadingHidden: true,
            className: 'w-14 py-1',
            cell: ({ title, url }) => <CopyButton text={url} label={`Copy the link of ${title}`} />,
          },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-14 py-1',
            cell: (page) =>
              mayWrite && (
                <Menu
                  trigger={<IconButton label={`Actions on ${page.title}`} icon={<Ellipsis aria-hidden size={18} />} />}
                >
                  <MenuItem isDanger icon={<Trash2 aria-hidden size={16} />} onSelect={() => setAsked(page)}>
                    Delete
                  </MenuItem>
                </Menu>
              ),
          },
        ]}
      />
      {asked && <DeletePageDialog page={asked} onClose={() => setAsked(null)} />}
    </>
  );
}
