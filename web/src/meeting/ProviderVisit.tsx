/** A visit to a room whose meeting is carried by the workspace's meeting provider. */
import { isLynxroomError, type Outputs } from '@lynxroom/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { TextKey } from '../../../src/languages/catalogue.ts';
import { Badge } from '../components/Badge.tsx';
import { Button } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { SkeletonRows } from '../components/Skeleton.tsx';
import { Time } from '../components/Time.tsx';
import { GuestFrame } from '../frame/GuestFrame.tsx';
import { LanguagePicker } from '../languages/LanguagePicker.tsx';
import { useTexts } from '../languages/texts.ts';
import { account, client, trpc } from '../lib/client.ts';
import { useIsShown } from '../lib/visibility.ts';
import { endLink, forgetLink, readLink } from './entry-link.ts';
import type { Room } from './types.ts';
import { readVisit, storeVisit } from './visit-storage.ts';

type Participant = Outputs['participants']['presence']['participant'];

/** A stream sends changes at once. Without a stream, the page asks often while the user waits. */
const WAITING_POLL_MS = 3_000;
/** The service considers a participant gone after five minutes without a call. */
const PRESENCE_POLL_MS = 10_000;

export function ProviderVisit(props: { room: Room; onReload: () => void }) {
  return (
    <GuestFrame title={props.room.display_name ?? props.room.name} branding={props.room.branding}>
      <LanguagePicker />
      <Visit {...props} />
    </GuestFrame>
  );
}

function Visit({ room, onReload }: { room: Room; onReload: () => void }) {
  const { write } = useTexts();
  const [token, setToken] = useState(() => readVisit(room.name)?.token ?? null);
  const [isJoiningAgain, setIsJoiningAgain] = useState(false);
  const [isStreaming, setIsStreaming] = useState(false);
  const isShown = useIsShown();
  const presence = useQuery({
    queryKey: ['presence', room.name, token],
    queryFn: () => client.participants.presence.mutate({ roomName: room.name, token: token ?? '' }),
    enabled: token !== null,
    // A lost connection comes back; a refusal is final.
    retry: (_failures, error) => !isLynxroomError(error) || error.status === 503,
    refetchIntervalInBackground: true,
    refetchInterval: ({ state }) => {
      if (state.status === 'error') return false;
      const status = state.data?.participant.status;
      if (status === 'waiting' && !isStreaming) return WAITING_POLL_MS;
      return status === 'waiting' || status === 'joined' ? PRESENCE_POLL_MS : false;
    },
  });
  const { refetch } = presence;
  const status = presence.data?.participant.status;
  const isPresent = (status === 'waiting' || status === 'joined') && !presence.isError;
  useEffect(() => {
    // Without HTTP/2, a browser opens at most six connections to a server, for all tabs together. So a hidden tab closes
    // its stream, and only asks for `presence`. The stream begins with the current state when the tab is shown again.
    if (token === null || !isPresent || !isShown) return;
    const { unsubscribe } = client.participants.live.subscribe(
      { roomName: room.name, token },
      {
        onConnectionStateChange: ({ state }) => setIsStreaming(state === 'pending'),
        // The event is only a signal. What is shown always comes from `presence`.
        onData: () => void refetch(),
        onError: () => setIsStreaming(false),
      },
    );
    return () => {
      unsubscribe();
      setIsStreaming(false);
    };
  }, [room.name, token, isPresent, isShown, refetch]);
  const leave = useMutation({
    mutationFn: () => client.participants.leave.mutate({ roomName: room.name, token: token ?? '' }),
    onSuccess: () => presence.refetch(),
  });

  function keep(next: string): void {
    storeVisit(room.name, next);
    setToken(next);
    setIsJoiningAgain(false);
    // A participant who was still present keeps their token.
    if (next === token) void refetch();
  }

  function startAgain(): void {
    setIsJoiningAgain(true);
    onReload();
  }

  if (token === null || isJoiningAgain) return <JoinForm room={room} earlierToken={token} onJoined={keep} />;
  if (presence.isPending) return <SkeletonRows count={2} />;
  if (presence.isError) {
    return (
      <>
        <ErrorPanel what={write('room.endedTitle')} error={presence.error} />
        <Button onClick={startAgain}>{write('room.joinAgain')}</Button>
      </>
    );
  }
  const { participant } = presence.data;
  return (
    <>
      <Status participant={participant} room={room} />
      {leave.isError && <ErrorPanel what={write('room.notLeft')} error={leave.error} />}
      {isPresent ? (
        <Button isPending={leave.isPending} onClick={() => leave.mutate()}>
          {write(participant.status === 'waiting' ? 'room.stopWaiting' : 'room.leave')}
        </Button>
      ) : (
        <Button onClick={startAgain}>{write('room.joinAgain')}</Button>
      )}
    </>
  );
}

type JoinFormProps = {
  room: Room;
  /** The token of an earlier visit, by which the service knows who was in the room before. */
  earlierToken: string | null;
  onJoined: (token: string) => void;
};

function JoinForm({ room, earlierToken, onJoined }: JoinFormProps) {
  const me = useQuery(account);
  const { write, writeWith } = useTexts();
  const onSuccess = ({ participant }: { participant: { token: string } }): void => {
    endLink(room.name);
    onJoined(participant.token);
  };
  const join = useMutation(trpc.participants.join.mutationOptions({ onSuccess }));
  const exchange = useMutation(
    trpc.participants.exchange.mutationOptions({
      onSuccess,
      onError: (error) => {
        if (isLynxroomError(error) && error.status === 404) forgetLink(room.name);
      },
    }),
  );
  const link = readLink(room.name);
  if (link !== null)
    return (
      <Form error={exchange.error} onSubmit={() => exchange.mutate({ roomName: room.name, token: link })}>
        <Button type="submit" tone="primary" isPending={exchange.isPending}>
          {write('room.join')}
        </Button>
      </Form>
    );
  if (me.isPending) return <SkeletonRows count={2} />;
  return (
    <>
      {room.scheduled_at !== null && (
        <p className="text-muted">
          {writeWith('room.planned', { time: <Time key="time" at={room.scheduled_at} isRelative={false} /> })}
        </p>
      )}
      {room.locked === 1 && <p role="status">{write('room.locked')}</p>}
      {room.must_wait === 1 && <p className="text-muted">{write('room.hostAdmits')}</p>}
      <Form
        error={join.error ?? exchange.error}
        onSubmit={(values) => {
          const email = String(values.get('email') ?? '');
          join.mutate({
            roomName: room.name,
            name: String(values.get('name')),
            ...(email !== '' && { email }),
            ...(earlierToken !== null && { token: earlierToken }),
          });
        }}
      >
        <TextField
          name="name"
          label={write('room.name')}
          autoComplete="name"
          maxLength={100}
          required
          defaultValue={me.data?.name ?? ''}
          hint={write('room.nameHint')}
        />
        {!me.data && (
          <TextField
            name="email"
            label={write('room.email')}
            type="email"
            autoComplete="email"
            hint={write('room.emailHint')}
          />
        )}
        <Button type="submit" tone="primary" isPending={join.isPending}>
          {write(room.must_wait === 1 ? 'room.askToJoin' : 'room.join')}
        </Button>
      </Form>
    </>
  );
}

const statusTexts = {
  waiting: { title: 'room.waiting', text: 'room.hostWillAdmit' },
  joined: { title: 'room.inTitle', text: 'room.in' },
  refused: { title: 'room.refusedTitle', text: 'room.refused' },
  left: { title: 'room.leftTitle', text: 'room.left' },
} as const satisfies Record<Participant['status'], { title: TextKey; text: TextKey }>;

const endTexts = { removed: 'room.removed', closed: 'room.closed' } as const;

function Status({ participant, room }: { participant: Participant; room: Room }) {
  const { status, name, end_reason, waiting_room_message } = participant;
  const { write } = useTexts();
  const { title, text } = statusTexts[status];
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="flex items-center gap-2">
        {/* Decoration: text in a color that a user chose may be unreadable. */}
        <span aria-hidden className="size-3 rounded-full" style={{ background: room.accent_color }} />
        <Badge tone={status === 'joined' ? 'success' : status === 'waiting' ? 'accent' : 'neutral'}>
          {write(title)}
        </Badge>
        <span className="text-muted">{name}</span>
      </p>
      <p>{write(end_reason === null ? text : endTexts[end_reason])}</p>
      {status === 'waiting' && waiting_room_message !== null && (
        <blockquote className="border-s-4 border-line ps-3 whitespace-pre-wrap">{waiting_room_message}</blockquote>
      )}
      {/* The place of the browser SDK of the room's meeting provider. */}
      {status === 'joined' && <div id="meeting" />}
    </div>
  );
}
