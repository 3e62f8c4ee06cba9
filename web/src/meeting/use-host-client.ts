/** The client with which a host acts. */
import { createClient } from '@lynxroom/client';
import type { Meeting, MeetingSnapshot } from '@lynxroom/client/meeting';
import { useMemo } from 'react';
import { client } from '../lib/client.ts';
import { fetchWithClock } from '../lib/clock.ts';

/** A person with a pass acts by their own token, also in a browser in which somebody is signed in. */
export function useHostClient({ token }: Meeting, { participant }: MeetingSnapshot): typeof client {
  const ownToken = participant?.user_id === null ? token : null;
  return useMemo(() => (ownToken === null ? client : createOwnClient(ownToken)), [ownToken]);
}

function createOwnClient(token: string): typeof client {
  return createClient({
    url: location.origin,
    fetch: fetchWithClock,
    credentials: 'omit',
    retry: { acrossCalls: true },
    token,
  });
}
