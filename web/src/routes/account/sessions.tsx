/** Where the user is signed in. */
import type { Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { useState } from 'react';
import { Badge } from '../../components/Badge.tsx';
import { Button } from '../../components/Button.tsx';
import { ConfirmDialog } from '../../components/Dialog.tsx';
import { PageHeader } from '../../components/PageHeader.tsx';
import { InfiniteTable } from '../../components/Table.tsx';
import { Time } from '../../components/Time.tsx';
import { client, trpc } from '../../lib/client.ts';
import { useOptimisticMutation } from '../../lib/optimistic.ts';
import { showSuccess } from '../../lib/toasts.ts';

type Session = Outputs['sessions']['list']['sessions'][number];

const PAGE_SIZE = 50;

const methods: Record<Session['method'], string> = {
  password: 'Password',
  totp: 'Password and code',
  recovery_code: 'Password and recovery code',
  passkey: 'Passkey',
  oidc: 'Provider',
  registration: 'New account',
  local_link: 'Link of this machine',
};

export const Route = createFileRoute('/account/sessions')({ component: SessionsPage });

const listOptions = trpc.sessions.list.infiniteQueryOptions(
  { limit: PAGE_SIZE },
  { getNextPageParam: (page) => page.next_cursor },
);

function SessionsPage() {
  const queryClient = useQueryClient();
  const [isEnding, setIsEnding] = useState(false);
  return (
    <>
      <PageHeader
        title="Sessions"
        text="Where you are signed in. End any session that you do not recognize, then change your password."
        actions={<Button onClick={() => setIsEnding(true)}>End all others</Button>}
      />
      <SessionTable />
      {isEnding && (
        <ConfirmDialog
          onClose={() => setIsEnding(false)}
          title="End all other sessions?"
          text="You are signed out everywhere but here. API keys still work."
          action="End all others"
          onConfirm={async () => {
            const { ended } = await client.sessions.endOthers.mutate();
            await queryClient.invalidateQueries(trpc.sessions.pathFilter());
            showSuccess(ended === 1 ? '1 session was ended' : `${ended} sessions were ended`);
          }}
        />
      )}
    </>
  );
}

function SessionTable() {
  const sessions = useInfiniteQuery(listOptions);
  const end = useOptimisticMutation({
    mutationFn: ({ id }: Session) => client.sessions.end.mutate({ sessionId: id }),
    apply(cache, { id }) {
      cache.update(listOptions.queryKey, (answer) => ({
        ...answer,
        pages: answer.pages.map((page) => ({ ...page, sessions: page.sessions.filter((one) => one.id !== id) })),
      }));
    },
    failure: 'Could not end the session',
    onSuccess: (_answer, { device }) => showSuccess(`The session of ${device} was ended`),
  });
  return (
    <InfiniteTable
      list={sessions}
      rowsOf={(page) => page.sessions}
      failure="The sessions could not be loaded"
      caption="Sessions"
      keyOf={({ id }) => id}
      columns={[
        {
          heading: 'Device',
          className: 'min-w-48',
          cell: ({ device, address, is_current }) => (
            <>
              <span className="font-medium">{device}</span> {is_current && <Badge tone="accent">This one</Badge>}
              <span className="block text-sm text-muted">{address ?? 'Unknown address'}</span>
            </>
          ),
        },
        {
          heading: 'Signed in',
          cell: ({ created_at, method }) => (
            <>
              <Time at={created_at} />
              <span className="block text-sm text-muted">{methods[method]}</span>
            </>
          ),
        },
        { heading: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
        { heading: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
        {
          heading: 'Actions',
          isHeadingHidden: true,
          className: 'w-24 py-1',
          cell: (session) =>
            !session.is_current && (
              <Button
                size="small"
                aria-label={`End the session of ${session.device}`}
                onClick={() => end.mutate(session)}
              >
                End
              </Button>
            ),
        },
      ]}
    />
  );
}
