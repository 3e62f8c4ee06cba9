'use client';

import { Room } from '@lynxroom/react';
import { useActionState, useState } from 'react';
import { enterRoom } from './actions.ts';

/** The room, in a frame of the service. The pass is made when the person enters, and not when a page is rendered. */
export function Consultation({ service, room }: { service: string; room: string }) {
  const [token, enter, isEntering] = useActionState(enterRoom, null);
  const [news, setNews] = useState('');
  if (token === null) {
    return (
      <form action={enter}>
        <button type="submit" disabled={isEntering}>
          Enter the consultation
        </button>
      </form>
    );
  }
  return (
    <>
      <Room
        service={service}
        room={room}
        token={token}
        className="room"
        onJoined={({ name }) => setNews(`${name} is in the consultation.`)}
        onRecording={(isRecording) => setNews(isRecording ? 'A recording begins.' : 'The recording has ended.')}
        onLeft={() => setNews('The consultation is over.')}
        onError={({ message }) => setNews(message)}
      />
      <p role="status">{news}</p>
    </>
  );
}
