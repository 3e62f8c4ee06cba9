/** A visit to a room whose meeting is carried by the workspace's meeting provider. */
import { isLynxroomError, type Outputs } from '@lynxroom/client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Badge } from '../components/Badge.tsx';
import { Button } from '../components/Button.tsx';
import { ErrorPanel } from '../components/ErrorPanel.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { SkeletonRows } from '../components/Skeleton.tsx';
import { Time } from '../components/Time.tsx';
import { SignInFrame } from '../frame/SignInFrame.tsx';
import { account, client, trpc } from '../lib/client.ts';
import { useIsShown } from '../lib/visibility.ts';
import type { Room } from './types.ts';
import { readVisit, storeVisit } from './visit-storage.ts';

type Participant = Outputs['participants']['presence']['participant'];

/** A stream sends changes at once. Without a stream, the page asks often while the user waits. */
const WAITING_POLL_MS = 3_000;
/** The service considers a participant gone after five minutes without a call. */
const PRESENCE_POLL_MS = 10_000;

export function ProviderVisit(props: { room: Room; onReload: () => void }) {
  return (
    <SignInFrame title={props.room.display_name ?? props.room.name}>
      <Visit {...props} />
    </SignInFrame>
  );
}

function Visit({ room, onReload }: { room: Room; onReload: () => void }) {
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
        <ErrorPanel what="Your visit has ended" error={presence.error} />
        <Button onClick={startAgain}>Join again</Button>
      </>
    );
  }
  const { participant } = presence.data;
  return (
    <>
      <Status participant={participant} room={room} />
      {leave.isError && <ErrorPanel what="Leaving the room failed" error={leave.error} />}
      {isPresent ? (
        <Button isPending={leave.isPending} onClick={() => leave.mutate()}>
          {participant.status === 'waiting' ? 'Stop waiting' : 'Leave'}
        </Button>
      ) : (
        <Button onClick={startAgain}>Join again</Button>
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
  const join = useMutation(
    trpc.participants.join.mutationOptions({ onSuccess: ({ participant }) => onJoined(participant.token) }),
  );
  if (me.isPending) return <SkeletonRows count={2} />;
  return (
    <>
      {room.scheduled_at !== null && (
        <p className="text-muted">
          Planned for <Time at={room.scheduled_at} isRelative={false} />
        </p>
      )}
      {room.locked === 1 && <p role="status">A host has locked this room. Nobody new can join at the moment.</p>}
      {room.must_wait === 1 && <p className="text-muted">A host lets you in.</p>}
      <Form
        error={join.error}
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
          label="Name"
          autoComplete="name"
          maxLength={100}
          required
          defaultValue={me.data?.name ?? ''}
          hint="The others see this name"
        />
        {!me.data && (
          <TextField name="email" label="Email (optional)" type="email" autoComplete="email" hint="Only hosts see it" />
        )}
        <Button type="submit" tone="primary" isPending={join.isPending}>
          {room.must_wait === 1 ? 'Ask to join' : 'Join'}
        </Button>
      </Form>
    </>
  );
}

const texts: Record<Participant['status'], { title: string; text: string }> = {
  waiting: { title: 'Waiting', text: 'A host will let you in.' },
  joined: { title: 'In the room', text: 'You are in the room.' },
  refused: { title: 'Not admitted', text: 'A host did not let you in.' },
  left: { title: 'Left', text: 'You have left the room.' },
};

function Status({ participant, room }: { participant: Participant; room: Room }) {
  const { status, name, end_reason, waiting_room_message } = participant;
  const { title, text } = texts[status];
  const reasons = { removed: 'A host has removed you from the room.', closed: 'A host has closed the meeting.' };
  return (
    <div role="status" className="flex flex-col gap-3">
      <p className="flex items-center gap-2">
        {/* Decoration: text in a color that a user chose may be unreadable. */}
        <span aria-hidden className="size-3 rounded-full" style={{ background: room.accent_color }} />
        <Badge tone={status === 'joined' ? 'success' : status === 'waiting' ? 'accent' : 'neutral'}>{title}</Badge>
        <span className="text-muted">{name}</span>
      </p>
      <p>{end_reason === null ? text : reasons[end_reason]}</p>
      {status === 'waiting' && waiting_room_message !== null && (
        <blockquote className="border-l-4 border-line pl-3 whitespace-pre-wrap">{waiting_room_message}</blockquote>
      )}
      {/* The place of the browser SDK of the room's meeting provider. */}
      {status === 'joined' && <div id="meeting" />}
    </div>
  );
}
