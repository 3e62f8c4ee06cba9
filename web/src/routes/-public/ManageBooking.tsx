import type { Outputs } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge } from '../../components/Badge.tsx';
import { Button, buttonClass } from '../../components/Button.tsx';
import { ConfirmDialog } from '../../components/Dialog.tsx';
import { ErrorNote, ErrorPanel } from '../../components/ErrorPanel.tsx';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { useTexts } from '../../languages/texts.ts';
import { client, trpc } from '../../lib/client.ts';
import { nowSeconds } from '../../lib/clock.ts';
import { refusalWith } from '../../lib/errors.ts';
import { viewerZone } from '../../lib/format.ts';
import { AddToCalendar } from './AddToCalendar.tsx';
import { formatMeeting } from './month.ts';
import { TimePicker } from './TimePicker.tsx';

type Booking = Outputs['bookings']['lookUp']['booking'];

export function ManageBooking({ slug, token }: { slug: string; token: string }) {
  const { write, locale } = useTexts();
  const queryClient = useQueryClient();
  const queryKey = ['booking', token];
  const booking = useQuery({
    queryKey,
    queryFn: async () => (await client.bookings.lookUp.mutate({ slug, token })).booking,
  });
  const [isAsking, setIsAsking] = useState(false);
  const [isMoving, setIsMoving] = useState(false);

  if (booking.isPending) return <SkeletonRows count={3} />;
  if (booking.isError) {
    return <ErrorPanel what={write('book.notFound')} error={booking.error} onRetry={() => booking.refetch()} />;
  }
  const { title, host_name, starts_at, status, awaits, room_name } = booking.data;
  const isOpen = status !== 'cancelled' && starts_at > nowSeconds();
  const zone = viewerZone;
  return (
    <>
      <div role="status" className="flex flex-col gap-2">
        <p className="flex items-center gap-2 font-medium">
          <bdi>{title}</bdi> {status === 'cancelled' && <Badge tone="danger">{write('book.cancelled')}</Badge>}
          {status === 'unconfirmed' && (
            <Badge tone="warning">{write(awaits === 'host' ? 'book.waitsForHost' : 'book.unconfirmed')}</Badge>
          )}
        </p>
        <p className="text-muted">{write('book.withHost', { host: host_name })}</p>
        <p>
          {formatMeeting(starts_at, zone, locale)} (<bdi>{zone}</bdi>)
        </p>
      </div>
      {isOpen && !isMoving && (
        <p className="flex flex-wrap gap-2">
          {room_name !== null && (
            <a href={`/room/${room_name}`} className={buttonClass('primary')}>
              {write('book.openRoom')}
            </a>
          )}
          {status === 'confirmed' && <Button onClick={() => setIsMoving(true)}>{write('book.move')}</Button>}
          <Button onClick={() => setIsAsking(true)}>{write('book.cancel')}</Button>
        </p>
      )}
      {!isOpen && (
        <p>
          <Link to="/book/$slug" params={{ slug }} className="link">
            {write('mail.bookAgain')}
          </Link>
        </p>
      )}
      {isOpen && !isMoving && status === 'confirmed' && <AddToCalendar meeting={booking.data} />}
      {isMoving && (
        <MoveForm
          booking={booking.data}
          token={token}
          onDone={(moved) => {
            if (moved) queryClient.setQueryData(queryKey, moved);
            setIsMoving(false);
          }}
        />
      )}
      {isAsking && (
        <ConfirmDialog
          onClose={() => setIsAsking(false)}
          title={write('book.cancelQuestion')}
          text={write('book.cancelText')}
          action={write('book.cancel')}
          onConfirm={async () => {
            await client.bookings.cancel.mutate({ slug, token });
            await booking.refetch();
          }}
        />
      )}
    </>
  );
}

type MoveFormProps = { booking: Booking; token: string; onDone: (moved?: Booking) => void };

function MoveForm({ booking, token, onDone }: MoveFormProps) {
  const { write, locale } = useTexts();
  const queryClient = useQueryClient();
  const [zone, setZone] = useState(viewerZone);
  const [startsAt, setStartsAt] = useState<number | null>(null);
  const move = useMutation({
    mutationFn: (starts_at: number) => client.bookings.reschedule.mutate({ slug: booking.slug, token, starts_at }),
    onSuccess: (answer) => onDone(answer.booking),
    async onError(error) {
      // Somebody else was faster: the list shows what is still free.
      if (!refusalWith(error, 'CONFLICT')) return;
      setStartsAt(null);
      await queryClient.invalidateQueries(trpc.bookings.times.pathFilter());
    },
  });
  return (
    <>
      <TimePicker
        slug={booking.slug}
        token={token}
        zone={zone}
        onZone={setZone}
        value={startsAt}
        onChange={setStartsAt}
      />
      {move.isError && <ErrorNote error={move.error} />}
      <p className="flex flex-wrap gap-2">
        <Button
          tone="primary"
          disabled={startsAt === null}
          isPending={move.isPending}
          onClick={() => startsAt !== null && move.mutate(startsAt)}
        >
          {startsAt === null
            ? write('book.chooseTime')
            : write('book.moveTo', { time: formatMeeting(startsAt, zone, locale) })}
        </Button>
        <Button onClick={() => onDone()}>{write('book.keepTime')}</Button>
      </p>
    </>
  );
}
