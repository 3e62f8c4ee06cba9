import type { Outputs } from '@lynxroom/client';
import type { Meeting, MeetingSnapshot } from '@lynxroom/client/meeting';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { TextKey } from '../../../src/languages/catalogue.ts';
import { useTexts } from '../languages/texts.ts';
import { queryClient, trpc } from '../lib/client.ts';
import { showError } from '../lib/toasts.ts';
import { useHostClient } from './use-host-client.ts';

export type WaitingPerson = Pick<Outputs['participants']['list']['participants'][number], 'id' | 'name'>;

/** Nobody is told when somebody begins to wait, so a host asks. */
const WAITING_POLL_MS = 3_000;
/** The newest of those who wait. The others appear as these are admitted or refused. */
const MAX_WAITING = 100;

export type HostActions = {
  waiting: readonly WaitingPerson[];
  /** Whether more people wait than are in `waiting`. */
  hasMoreWaiting: boolean;
  admit: (participantId: number) => void;
  refuse: (participantId: number) => void;
  remove: (participantId: number) => void;
  muteAll: () => void;
  /** Needs a session: null for a person with a pass. */
  setChatEnabled: ((isEnabled: boolean) => void) | null;
  setLocked: (isLocked: boolean) => void;
  /** Rejects if the service refuses. */
  close: () => Promise<unknown>;
};

type Decision = 'admit' | 'refuse' | 'remove';

const FAILURES = {
  admit: 'meeting.notAdmitted',
  refuse: 'meeting.notRefused',
  remove: 'meeting.notRemoved',
} as const satisfies Record<Decision, TextKey>;

/** What a host can do inside of the meeting; null for everybody else. */
export function useHost(roomName: string, meeting: Meeting, snapshot: MeetingSnapshot): HostActions | null {
  const { write } = useTexts();
  const client = useHostClient(meeting, snapshot);
  const isHost = snapshot.participant?.is_host === 1;
  const isSignedIn = snapshot.participant?.user_id !== null;
  const input = { name: roomName, status: 'waiting', limit: MAX_WAITING } as const;
  const options = trpc.participants.list.queryOptions(input);
  const list = useQuery({
    queryKey: options.queryKey,
    queryFn: ({ signal }) => client.participants.list.query(input, { signal }),
    enabled: isHost,
    refetchInterval: WAITING_POLL_MS,
    // A host who looks at another tab still lets people in as soon as they come back.
    refetchIntervalInBackground: true,
  });
  const decide = useMutation({
    mutationFn: ({ participantId, decision }: { participantId: number; decision: Decision }) =>
      client.participants[decision].mutate({ name: roomName, participantId }),
    // The buttons of the person disappear at once.
    onMutate: ({ participantId }) =>
      queryClient.setQueryData(options.queryKey, (answer) =>
        answer === undefined
          ? answer
          : { ...answer, participants: answer.participants.filter(({ id }) => id !== participantId) },
      ),
    onError: (error, { decision }) => showError(write(FAILURES[decision]), error),
    onSettled: () => queryClient.invalidateQueries({ queryKey: options.queryKey }),
  });
  const change = useMutation({
    mutationFn: (action: { carryOut: () => Promise<unknown>; failure: string }) => action.carryOut(),
    onError: (error, { failure }) => showError(failure, error),
  });
  if (!isHost) return null;
  const act = (failure: string, carryOut: () => Promise<unknown>): void => change.mutate({ failure, carryOut });
  const name = roomName;
  return {
    // The oldest first: the service lists the newest first.
    waiting: (list.data?.participants ?? []).toReversed(),
    hasMoreWaiting: list.data?.next_cursor !== undefined,
    admit: (participantId) => decide.mutate({ participantId, decision: 'admit' }),
    refuse: (participantId) => decide.mutate({ participantId, decision: 'refuse' }),
    remove: (participantId) => decide.mutate({ participantId, decision: 'remove' }),
    muteAll: () => act(write('meeting.notAsked'), () => client.rooms.muteAll.mutate({ name })),
    setLocked: (isLocked) =>
      act(write('meeting.notLocked'), () => client.rooms[isLocked ? 'lock' : 'unlock'].mutate({ name })),
    setChatEnabled: isSignedIn
      ? (isEnabled) =>
          act(write('meeting.chatNotSwitched'), () =>
            client.rooms.update.mutate({ name, chat_enabled: isEnabled ? 1 : 0 }),
          )
      : null,
    close: () => client.rooms.close.mutate({ name }),
  };
}
