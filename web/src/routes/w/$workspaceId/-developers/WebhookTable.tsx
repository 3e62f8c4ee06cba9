import { useQuery } from '@tanstack/react-query';
import { Webhook as WebhookIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { EmptyState } from '../../../../components/EmptyState.tsx';
import { WholeTable } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { describeState, toEvents, type Webhook, webhooksOptions } from './webhooks.ts';

/** The webhooks of the workspace. `nameOf` leads to one of them. */
export function WebhookTable({ nameOf }: { nameOf: (webhook: Webhook) => ReactNode }) {
  const id = useWorkspaceId();
  const webhooks = useQuery({ ...webhooksOptions(id), refetchInterval: LIVE_POLL_MS });
  return (
    <WholeTable
      caption="Webhooks"
      list={webhooks}
      rowsOf={(data) => data}
      failure="The webhooks could not be loaded"
      empty={
        <EmptyState icon={<WebhookIcon aria-hidden size={32} />} title="There are no webhooks yet">
          A webhook tells your program what happens here: a guest joins, a recording is ready, a meeting is booked.
        </EmptyState>
      }
      keyOf={(webhook) => webhook.id}
      columns={[
        {
          heading: 'Name',
          className: 'min-w-48',
          cell: (webhook) => (
            <>
              {nameOf(webhook)}
              <span className="block text-sm text-muted">{webhook.url}</span>
            </>
          ),
        },
        {
          heading: 'State',
          className: 'min-w-32',
          cell: (webhook) => {
            const { tone, label } = describeState(webhook);
            return <Badge tone={tone}>{label}</Badge>;
          },
        },
        { heading: 'Events', isNumber: true, cell: (webhook) => toEvents(webhook).length },
        {
          heading: 'Last attempt',
          cell: ({ last_delivery_at: at }) => (at === null ? 'None yet' : <Time at={at} />),
        },
      ]}
    />
  );
}
