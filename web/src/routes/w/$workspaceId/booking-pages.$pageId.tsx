/** One booking page: its settings, and its free times as a guest sees them. */
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { ArrowLeft, ExternalLink, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, buttonClass } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { EnglishTexts } from '../../../languages/EnglishTexts.tsx';
import { viewerZone } from '../../../lib/format.ts';
import { useHasRole, useWorkspaceId } from '../../../lib/workspace.ts';
import { TimePicker } from '../../-public/TimePicker.tsx';
import { DeletePageDialog } from './-booking/DeletePageDialog.tsx';
import type { BookingPage } from './-booking/hours.ts';
import { PageForm } from './-booking/PageForm.tsx';
import { useBookingPages } from './-booking/use-booking-pages.ts';

export const Route = createFileRoute('/w/$workspaceId/booking-pages/$pageId')({ component: BookingPagePage });

function BookingPagePage() {
  const id = useWorkspaceId();
  const { pageId } = Route.useParams();
  const pages = useBookingPages();
  const page = pages.data?.find((one) => String(one.id) === pageId);
  return (
    <>
      <p className="mb-3">
        <Link
          to="/w/$workspaceId/booking-pages"
          params={{ workspaceId: String(id) }}
          className="link inline-flex items-center gap-1"
        >
          <ArrowLeft aria-hidden size={16} />
          All booking pages
        </Link>
      </p>
      {page !== undefined && <PageView key={page.id} page={page} />}
      {page === undefined && pages.isPending && <SkeletonRows />}
      {page === undefined && !pages.isPending && <PageHeader title="Booking page" />}
      {page === undefined && pages.isError && (
        <ErrorPanel what="The booking page could not be loaded" error={pages.error} onRetry={() => pages.refetch()} />
      )}
      {page === undefined && pages.isSuccess && (
        <EmptyState title="There is no such booking page">It may have been deleted.</EmptyState>
      )}
    </>
  );
}

function PageView({ page }: { page: BookingPage }) {
  const id = useWorkspaceId();
  const navigate = useNavigate();
  const mayWrite = useHasRole('admin');
  const [isAsking, setIsAsking] = useState(false);
  return (
    <>
      <PageHeader
        title={page.title}
        text={<span className="wrap-anywhere">{page.url}</span>}
        actions={
          <>
            <CopyButton text={page.url} label="Copy the link of the page">
              Copy the link
            </CopyButton>
            <a href={`/book/${page.slug}`} target="_blank" rel="noreferrer" className={buttonClass('secondary')}>
              <ExternalLink aria-hidden size={16} />
              Open the page
            </a>
            {mayWrite && (
              <Button icon={<Trash2 aria-hidden size={16} />} onClick={() => setIsAsking(true)}>
                Delete
              </Button>
            )}
          </>
        }
      />
      <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <RoleGate min="admin" to="change booking pages">
          <PageForm page={page} />
        </RoleGate>
        <Preview page={page} />
      </div>
      {isAsking && (
        <DeletePageDialog
          page={page}
          onClose={() => setIsAsking(false)}
          onDeleted={() =>
            navigate({
              to: '/w/$workspaceId/booking-pages',
              params: { workspaceId: String(id) },
              // What was changed in the form goes with the page.
              ignoreBlocker: true,
            })
          }
        />
      )}
    </>
  );
}

/** What a guest can choose from, with the settings that are saved. */
function Preview({ page }: { page: BookingPage }) {
  const [zone, setZone] = useState(viewerZone);
  const [startsAt, setStartsAt] = useState<number | null>(null);
  return (
    <section aria-label="Preview" className="flex min-w-0 flex-col gap-3 rounded-xl border border-line p-4">
      <h2 className="text-lg font-medium">What guests see</h2>
      <p className="text-sm text-muted">With the settings that are saved. Nothing is booked here.</p>
      <EnglishTexts fallback={<SkeletonRows count={7} />}>
        <TimePicker slug={page.slug} zone={zone} onZone={setZone} value={startsAt} onChange={setStartsAt} />
      </EnglishTexts>
    </section>
  );
}
