/** One contact: what they did, change it, delete it, and the data about the person. */
import type { Outputs } from '@lynxroom/client';
import { type InfiniteData, useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { ArrowLeft, History, Pencil, ShieldUser, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { ConfirmDialog, Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { Table } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { refusalWith } from '../../../lib/errors.ts';
import { useOptimisticMutation } from '../../../lib/optimistic.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { EditContactForm } from './-contacts/ContactForm.tsx';
import { EventPlace } from './-contacts/EventPlace.tsx';
import { describeEvent } from './-contacts/event-names.ts';
import { PersonDialog } from './-contacts/PersonDialog.tsx';
import { VerifiedBadge } from './-contacts/VerifiedBadge.tsx';

type Contact = Outputs['contacts']['read']['contact'];
type Event = Outputs['contacts']['read']['events'][number];
type List = Outputs['contacts']['list'];
type OpenDialog = 'edit' | 'delete' | 'person' | null;

/** As many events as the service returns. */
const MAX_EVENTS = 100;

export const Route = createFileRoute('/w/$workspaceId/contacts/$contactId')({ component: ContactPage });

function ContactPage() {
  const id = useWorkspaceId();
  const { contactId } = Route.useParams();
  const contact = useQuery(trpc.contacts.read.queryOptions({ id, contactId: Number(contactId) }));
  // The loaded contact stays even if it disappears: a dialog may still show the report of the erasure.
  const view = contact.data && <ContactView contact={contact.data.contact} events={contact.data.events} />;
  return (
    <>
      <p className="mb-3">
        <Link
          to="/w/$workspaceId/contacts"
          params={{ workspaceId: String(id) }}
          className="link inline-flex items-center gap-1"
        >
          <ArrowLeft aria-hidden size={16} />
          All contacts
        </Link>
      </p>
      {contact.isPending && <SkeletonRows />}
      {view}
      {contact.isError && view === undefined && (
        <>
          <PageHeader title="Contact" />
          <ErrorPanel
            what={
              refusalWith(contact.error, 'NOT_FOUND')
                ? 'There is no such contact. It may have been deleted.'
                : 'The contact could not be loaded'
            }
            error={contact.error}
            onRetry={() => contact.refetch()}
          />
        </>
      )}
    </>
  );
}

function ContactView({ contact, events }: { contact: Contact; events: readonly Event[] }) {
  const id = useWorkspaceId();
  const mayWrite = useHasRole('admin');
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const remove = useDelete(id);
  const close = (): void => setDialog(null);

  async function leave(): Promise<void> {
    // It is not there any more, so it must not be refetched.
    queryClient.removeQueries(trpc.contacts.read.queryFilter({ id, contactId: contact.id }));
    await navigate({ to: '/w/$workspaceId/contacts', params: { workspaceId: String(id) } });
  }

  return (
    <>
      <PageHeader
        title={contact.name}
        actions={
          mayWrite && (
            <>
              <Button icon={<Pencil aria-hidden size={16} />} onClick={() => setDialog('edit')}>
                Edit
              </Button>
              <Button icon={<ShieldUser aria-hidden size={16} />} onClick={() => setDialog('person')}>
                Data about the person
              </Button>
              <Button icon={<Trash2 aria-hidden size={16} />} onClick={() => setDialog('delete')}>
                Delete
              </Button>
            </>
          )
        }
      />
      <p className="mb-6 flex flex-wrap items-center gap-x-3 gap-y-1">
        <a href={`mailto:${contact.email}`} className="link wrap-anywhere">
          {contact.email}
        </a>
        <CopyButton text={contact.email} label="Copy the address" />
        <VerifiedBadge isVerified={contact.email_verified} />
        <span className="text-muted">
          Added <Time at={contact.created_at} />
        </span>
      </p>
      <h2 className="mb-3 text-lg font-medium">History</h2>
      <EventTable events={events} />
      {dialog === 'edit' && (
        <Dialog onClose={close} title="Edit the contact">
          <EditContactForm contact={contact} onDone={close} />
        </Dialog>
      )}
      {dialog === 'person' && <PersonDialog onClose={close} email={contact.email} onErased={leave} />}
      {dialog === 'delete' && (
        <ConfirmDialog
          onClose={close}
          title={`Delete ${contact.name}?`}
          text="The contact is removed from the list. What the person did still counts in the analytics, and bookings and visits remain. This cannot be undone."
          action="Delete"
          onConfirm={async () => {
            remove.mutate(contact);
            await leave();
          }}
        />
      )}
    </>
  );
}

/** The contact disappears from the lists at once. It comes back if the service refuses. */
function useDelete(id: number) {
  return useOptimisticMutation({
    mutationFn: ({ id: contactId }: Contact) => client.contacts.delete.mutate({ id, contactId }),
    apply(cache, { id: contactId }) {
      cache.updateAll<InfiniteData<List>>(trpc.contacts.list.infiniteQueryFilter(), (answer) => ({
        ...answer,
        pages: answer.pages.map((page) => {
          const contacts = page.contacts.filter((contact) => contact.id !== contactId);
          return { ...page, contacts, total: page.total - (page.contacts.length - contacts.length) };
        }),
      }));
    },
    failure: 'Could not delete the contact',
    onSuccess: (_output, { name }) => showSuccess(`${name} was deleted`),
  });
}

function EventTable({ events }: { events: readonly Event[] }) {
  if (events.length === 0) {
    return (
      <EmptyState icon={<History aria-hidden size={32} />} title="Nothing has happened yet">
        Visits to rooms and booked meetings appear here.
      </EmptyState>
    );
  }
  return (
    <>
      <Table
        caption="History"
        rows={events}
        keyOf={(event) => event.id}
        columns={[
          {
            heading: 'What',
            className: 'min-w-40',
            cell: ({ type }) => describeEvent(type),
          },
          { heading: 'Where', className: 'min-w-40', cell: (event) => <EventPlace event={event} /> },
          { heading: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
        ]}
      />
      {events.length === MAX_EVENTS && <p className="mt-2 text-sm text-muted">The latest {MAX_EVENTS} events.</p>}
    </>
  );
}
