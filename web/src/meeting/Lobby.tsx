import { useQuery } from '@tanstack/react-query';
import { Button, buttonClass } from '../components/Button.tsx';
import { Form, TextField } from '../components/Form.tsx';
import { Time } from '../components/Time.tsx';
import { LanguagePicker } from '../languages/LanguagePicker.tsx';
import { useTexts } from '../languages/texts.ts';
import { account } from '../lib/client.ts';
import { isEmbedded } from '../lib/embedded.ts';
import { DeviceFields } from './DeviceFields.tsx';
import { namesPerson } from './entry-link.ts';
import type { LocalMedia, LocalMediaState } from './local-media.ts';
import { PageFrame } from './PageFrame.tsx';
import { Preview } from './Preview.tsx';
import { RecordingNotice } from './RecordingNotice.tsx';
import { whoWillSee } from './recording-texts.ts';
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
    <PageFrame title={room.display_name ?? room.name} color={room.accent_color} branding={room.branding} isWide>
      <div className="grid items-start gap-x-8 gap-y-6 md:grid-cols-[3fr_2fr] md:grid-rows-[auto_1fr]">
        <Preview media={media} state={state} />
        <div className="flex flex-col gap-4 md:row-span-2">
          <LanguagePicker />
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
  const { write, writeWith } = useTexts();
  return (
    <>
      {room.scheduled_at !== null && (
        <p className="text-muted">
          {writeWith('room.planned', { time: <Time key="time" at={room.scheduled_at} isRelative={false} /> })}
        </p>
      )}
      {room.recorded === 1 && <RecordingNotice name={room.recorded_by} whoWillSee={write(whoWillSee(room))} />}
      {room.locked === 1 && <p role="status">{write('room.locked')}</p>}
      {room.full === 1 && <p role="status">{write('room.full')}</p>}
      {room.must_wait === 1 && !namesPerson(room.name) && <p className="text-muted">{write('room.hostAdmits')}</p>}
    </>
  );
}

function JoinForm({ room, isPending, error, onJoin }: Pick<LobbyProps, 'room' | 'isPending' | 'error' | 'onJoin'>) {
  const me = useQuery(account);
  const { write } = useTexts();
  // The link says who the person is.
  if (namesPerson(room.name))
    return (
      <Form error={error} onSubmit={() => onJoin({ name: '', email: '' })}>
        <Button type="submit" tone="primary" isPending={isPending}>
          {write('room.join')}
        </Button>
      </Form>
    );
  if (me.isPending) return null;
  if (room.members_only === 1 && room.is_member === 0) return <MembersOnly isSignedIn={Boolean(me.data)} />;
  return (
    <Form
      error={error}
      onSubmit={(values) => onJoin({ name: String(values.get('name')), email: String(values.get('email') ?? '') })}
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
      <Button type="submit" tone="primary" isPending={isPending}>
        {write(room.must_wait === 1 ? 'room.askToJoin' : 'room.join')}
      </Button>
    </Form>
  );
}

function MembersOnly({ isSignedIn }: { isSignedIn: boolean }) {
  const { write } = useTexts();
  // A frame does not know who is signed in, and leads nowhere.
  if (isSignedIn || isEmbedded) return <p role="status">{write('room.notMember')}</p>;
  return (
    <>
      <p role="status">{write('room.signInAsMember')}</p>
      {/* Leaving a room loads the document, since the headers of rooms belong to it. */}
      <a href={`/?next=${encodeURIComponent(location.pathname)}`} className={buttonClass('primary')}>
        {write('page.signIn')}
      </a>
    </>
  );
}

function Privacy({ room }: { room: Room }) {
  const { write } = useTexts();
  return (
    <div className="flex flex-col gap-1 text-sm text-muted">
      {/* A LiveKit server is a relay too: nobody learns the address of another person. */}
      <p>{write(room.relay_only === 1 || room.media === 'livekit' ? 'room.relayed' : 'room.direct')}</p>
      {room.recorded === 0 && (
        <p>
          {write('room.toldBeforeRecording')} {write(whoWillSee(room))}
        </p>
      )}
    </div>
  );
}
