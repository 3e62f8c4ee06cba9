/** The webhooks of the workspace, as its pages read and change them. */
import type { Inputs, Outputs } from '@lynxroom/client';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import type { BadgeTone } from '../../../../components/Badge.tsx';
import { allPagesOf } from '../../../../lib/all-pages.ts';
import { client, trpc } from '../../../../lib/client.ts';
import { useOptimisticMutation } from '../../../../lib/optimistic.ts';

export type Webhook = Outputs['webhooks']['list']['webhooks'][number];
export type Message = Outputs['webhooks']['messages']['messages'][number];
export type MessageStatus = Message['status'];
/** An event that a webhook can subscribe to. */
export type EventName = Inputs['webhooks']['create']['events'][number];
/** An event that a message can have, including the test event. */
export type SentEvent = Message['event'];

/** All webhooks of the workspace. The API has no operation that reads one of them. */
export function webhooksOptions(id: number) {
  return queryOptions({
    queryKey: [...trpc.webhooks.list.queryKey({ id }), 'all'],
    queryFn: ({ signal }) =>
      allPagesOf(
        (cursor) => client.webhooks.list.query({ id, cursor }, { signal }),
        (page) => page.webhooks,
      ),
  });
}

export function toEvents({ events }: Webhook): EventName[] {
  // `as`: the API has the list as JSON text.
  return JSON.parse(events) as EventName[];
}

export function describeState({ is_active, disabled_reason, failure_count }: Webhook): {
  tone: BadgeTone;
  label: string;
} {
  if (is_active === 0) {
    return disabled_reason === null
      ? { tone: 'warning', label: 'Off' }
      : { tone: 'danger', label: 'Switched off by the service' };
  }
  return failure_count > 0 ? { tone: 'warning', label: 'Failing' } : { tone: 'success', label: 'On' };
}

/** Switches a webhook on or off. It shows at once, and is taken back if the service refuses it. */
export function useSetActive(id: number) {
  const queryClient = useQueryClient();
  return useOptimisticMutation({
    mutationFn: ({ webhookId, isActive }: { webhookId: number; isActive: boolean }) =>
      client.webhooks.update.mutate({ id, webhookId, is_active: isActive }),
    apply(cache, { webhookId, isActive }) {
      cache.update(webhooksOptions(id).queryKey, (list) =>
        list.map((webhook) => (webhook.id === webhookId ? { ...webhook, is_active: isActive ? 1 : 0 } : webhook)),
      );
    },
    failure: 'Could not switch the webhook on or off',
    // Switching it off cancels the messages that wait.
    onSuccess: () => queryClient.invalidateQueries(trpc.webhooks.messages.pathFilter()),
  });
}
