/** A booking page, for everybody who has its link. */
import type { Inputs, Outputs } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, buttonClass } from '../../components/Button.tsx';
import { ErrorPanel } from '../../components/ErrorPanel.tsx';
import { Form, TextField } from '../../components/Form.tsx';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { useTexts } from '../../languages/texts.ts';
import { client, trpc } from '../../lib/client.ts';
import { isEmbedded } from '../../lib/embedded.ts';
import { describeError, refusalWith } from '../../lib/errors.ts';
import { viewerZone } from '../../lib/format.ts';
import { tellHostPage } from '../../lib/host-page.ts';
import { toInitials } from '../../meeting/initials.ts';
import { AddToCalendar } from './AddToCalendar.tsx';
import { GuestPage } from './GuestPage.tsx';
import { formatMeeting } from './month.ts';
import { TimePicker } from './TimePicker.tsx';

type BookablePage = Outputs['bookings']['times']['page'];
type Booked = Outputs['bookings']['book']['booking'];

export function BookPage({ slug }: { slug: string }) {
  const page = useQuery(trpc.bookings.times.queryOptions({ slug }));
  const [zone, setZone] = useState(viewerZone);
  const [booked, setBooked] = useState<Booked | null>(null);
  return (
    <GuestPage
      title={(write) => (booked === null ? (page.data?.page.title ?? slug) : write(toHeading(booked)))}
      slug={slug}
      isWide={booked === null}
    >
      {page.isPending && <SkeletonRows />}
      {page.isError && <NotOpened error={page.error} onRetry={() => page.refetch()} />}
      {page.isSuccess && booked === null && (
        <>
          <About page={page.data.page} />
          <BookForm slug={slug} zone={zone} onZone={setZone} onBooked={setBooked} />
        </>
      )}
      {booked !== null && <Confirmation booking={booked} zone={zone} />}
    </GuestPage>
  );
}

function NotOpened({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { write } = useTexts();
  return <ErrorPanel what={write('book.notOpened')} error={error} onRetry={onRetry} />;
}

/** Whom one meets, for how long, and what the page says about it. */
function About({ page: { host_name, description, duration_minutes } }: { page: BookablePage }) {
  const { write } = useTexts();
  return (
    <div className="flex flex-col gap-3">
      <p className="flex items-center gap-3">
        <span
          aria-hidden
          className="flex size-10 shrink-0 items-center justify-center rounded-full bg-accent-soft font-medium text-accent-text"
        >
          {toInitials(host_name)}
        </span>
        <span className="min-w-0">
          <span dir="auto" className="block text-start font-medium wrap-anywhere">
            {host_name}
          </span>
          <span className="block text-muted">{write('book.minutes', { count: duration_minutes })}</span>
        </span>
      </p>
      {description !== null && (
        <p dir="auto" className="whitespace-pre-line wrap-anywhere">
          {description}
        </p>
      )}
    </div>
  );
}

function toHeading({ awaits }: Booked): 'book.checkEmail' | 'book.requestSent' | 'book.booked' {
  if (awaits === 'guest') return 'book.checkEmail';
  return awaits === 'host' ? 'book.requestSent' : 'book.booked';
}

type BookFormProps = {
  slug: string;
  zone: string;
  onZone: (zone: string) => void;
  onBooked: (booking: Booked) => void;
};

function BookForm({ slug, zone, onZone, onBooked }: BookFormProps) {
  const { write, language, locale } = useTexts();
  const queryClient = useQueryClient();
  const [startsAt, setStartsAt] = useState<number | null>(null);
  const [isTimeMissing, setTimeMissing] = useState(false);
  const book = useMutation({
    mutationFn: bookInZone,
    onSuccess({ booking }) {
      const { id, title, starts_at, ends_at, awaits } = booking;
      tellHostPage({ event: 'booked', booking: { id, title, starts_at, ends_at, awaits } });
      onBooked(booking);
    },
    async onError(error) {
      const { code, message } = describeError(error);
      tellHostPage({ event: 'error', code, message });
      // Somebody else was faster: the list shows what is still free.
      if (!refusalWith(error, 'CONFLICT')) return;
      setStartsAt(null);
      await queryClient.invalidateQueries(trpc.bookings.times.pathFilter());
    },
  });

  function submit(values: FormData): void {
    setTimeMissing(startsAt === null);
    if (startsAt === null) return;
    const [name, email] = [String(values.get('name')), String(values.get('email'))];
    book.mutate({ slug, name, email, starts_at: startsAt, time_zone: zone, language });
  }

  return (
    <>
      {book.isError && startsAt === null && <ErrorPanel what={write('book.notBooked')} error={book.error} />}
      <div className="grid gap-6 lg:grid-cols-[minmax(0,1fr)_18rem] lg:gap-8">
        <TimePicker slug={slug} zone={zone} onZone={onZone} value={startsAt} onChange={setStartsAt} />
        <Form onSubmit={submit} error={startsAt === null ? undefined : book.error}>
          <p role="status" className="min-h-12 font-medium">
            {startsAt === null ? write('book.chooseBoth') : formatMeeting(startsAt, zone, locale)}
          </p>
          <TextField name="name" label={write('room.name')} autoComplete="name" required maxLength={100} />
          <TextField name="email" label={write('book.email')} type="email" autoComplete="email" required />
          {isTimeMissing && startsAt === null && (
            <p role="alert" className="text-sm text-danger-text">
              {write('book.chooseFirst')}
            </p>
          )}
          <Button type="submit" tone="primary" isPending={book.isPending}>
            {write('book.book')}
          </Button>
        </Form>
      </div>
    </>
  );
}

/** The browser may know a time zone that the service does not know yet. The booking does without it then. */
async function bookInZone(input: Inputs['bookings']['book']): Promise<Outputs['bookings']['book']> {
  try {
    return await client.bookings.book.mutate(input);
  } catch (error) {
    if (!describeError(error).issues.some(({ path }) => path === 'time_zone')) throw error;
    return client.bookings.book.mutate({ ...input, time_zone: null });
  }
}

function Confirmation({ booking, zone }: { booking: Booked; zone: string }) {
  const { write, locale } = useTexts();
  // Only the page itself may be shown in a frame.
  const target = isEmbedded ? '_blank' : undefined;
  return (
    <div role="status" className="flex flex-col gap-3">
      <p dir="auto" className="font-medium">
        {booking.title}
      </p>
      <p>
        {formatMeeting(booking.starts_at, zone, locale)} (<bdi>{zone}</bdi>)
      </p>
      {booking.awaits === 'guest' && <p>{write('book.openLink')}</p>}
      {booking.awaits === 'host' && <p>{write('book.hostMustApprove', { host: booking.host_name })}</p>}
      <p className="flex flex-wrap gap-2">
        {booking.room_name !== null && (
          <a href={`/room/${booking.room_name}`} target={target} className={buttonClass('primary')}>
            {write('book.openRoom')}
          </a>
        )}
        <a href={toPath(booking.manage_url)} target={target} className={buttonClass('secondary')}>
          {write('book.moveOrCancel')}
        </a>
      </p>
      {booking.status === 'confirmed' && <AddToCalendar meeting={booking} />}
      <p className="text-sm text-muted">{write('book.keepLink')}</p>
    </div>
  );
}

/** The page is on this origin, whatever address the service gives in links. */
function toPath(url: string): string {
  const { pathname, search, hash } = new URL(url, location.href);
  return `${pathname}${search}${hash}`;
}
