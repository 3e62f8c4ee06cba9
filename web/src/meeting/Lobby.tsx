import { useQuery } from '@tanstack/react-query';
import { Button, buttonClass } from '../components/Button.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { Time } from '../components/Time.tsx';
import { account } from '../lib/client.ts';
import { DeviceFields } from './DeviceFields.tsx';
import type { LocalMedia, LocalMediaState } from './local-media.ts';
import { PageFrame } from './PageFrame.tsx';
import { Preview } from './Preview.tsx';
import { RecordingNotice } from './RecordingNotice.tsx';
import { sayWhoWillSee } from './recording-texts.ts';
import type { Guest, Room } from './types.ts';

type LobbyProps = {
  room: Room;
  media: LocalMedia;
  state: LocalMediaState;
  isPending: boolean;
  error: unknown;
  onJoin: (guest: Guest) => void;
};

/** Before the meeting: the person sees themselves, gives their name, and reads what to expect. */
export function Lobby({ room, media, state, isPending, error, onJoin }: LobbyProps) {
  return (
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color} isWide>
      <div className="grid items-start gap-x-8 gap-y-6 md:grid-cols-[3fr_2fr] md:grid-rows-[auto_1fr]">
        <Preview media={media} state={state} />
        <div className="flex flex-col gap-4 md:row-span-2">
          <Facts room={room} />
          <JoinForm room={room} isPending={isPending} error={error} onJoin={onJoin} />
          <Privacy room={room} />
        </div>
        <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
          <DeviceFields media={media} state={state} />
        </div>
      </div>
    </PageFrame>
  );
}

function Facts({ room }: { room: Room }) {
  return (
    <>
      {room.scheduled_at !== null && (
        <p className="text-muted">
          Planned for <Time at={room.scheduled_at} isRelative={false} />
        </p>
      )}
      {room.recorded === 1 && <RecordingNotice name={room.recorded_by} whoWillSee={sayWhoWillSee(room)} />}
      {room.locked === 1 && <p role="status">A host has locked this room. Nobody new can join at the moment.</p>}
      {room.full === 1 && <p role="status">This meeting is full at the moment. You can join when somebody has left.</p>}
      {room.must_wait === 1 && <p className="text-muted">A host lets you in.</p>}
    </>
  );
}

function JoinForm({ room, isPending, error, onJoin }: Pick<LobbyProps, 'room' | 'isPending' | 'error' | 'onJoin'>) {
  const me = useQuery(account);
  if (me.isPending) return null;
  if (room.members_only === 1 && room.is_member === 0) return <MembersOnly isSignedIn={Boolean(me.data)} />;
  return (
    <Form
      error={error}
      onSubmit={(values) => onJoin({ name: String(values.get('name')), email: String(values.get('email') ?? '') })}
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
      <Button type="submit" tone="primary" isPending={isPending}>
        {room.must_wait === 1 ? 'Ask to join' : 'Join'}
      </Button>
    </Form>
  );
}

function MembersOnly({ isSignedIn }: { isSignedIn: boolean }) {
  if (isSignedIn)
    return <p role="status">Only members of the workspace of this room can join, and you are not one of them.</p>;
  return (
    <>
      <p role="status">Only members of the workspace of this room can join. Sign in to show that you are one.</p>
      {/* Leaving a room loads the document, since the headers of rooms belong to it. */}
      <a href={`/?next=${encodeURIComponent(location.pathname)}`} className={buttonClass('primary')}>
        Sign in
      </a>
    </>
  );
}

function Privacy({ room }: { room: Room }) {
  return (
    <div className="flex flex-col gap-1 text-sm text-muted">
      <p>
        {room.relay_only === 1
          ? 'Pictures and sounds go through a relay: the others do not see the address of your connection.'
          : 'Pictures and sounds go from browser to browser, so the others can see the IP address of your connection.'}
      </p>
      {room.recorded === 0 && <p>You are told before anything is recorded. {sayWhoWillSee(room)}</p>}
    </div>
  );
}
