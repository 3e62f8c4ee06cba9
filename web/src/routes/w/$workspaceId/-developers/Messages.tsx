import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ChevronRight, Inbox } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button } from '../../../../components/Button.tsx';
import { Dialog } from '../../../../components/Dialog.tsx';
import { EmptyState } from '../../../../components/EmptyState.tsx';
import { SelectField } from '../../../../components/Form.tsx';
import { InfiniteList } from '../../../../components/Table.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { nowSeconds } from '../../../../lib/clock.ts';
import { formatDateTime } from '../../../../lib/format.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { MessagePanel } from './MessagePanel.tsx';
import { isStatus, type MessageFilters, statuses } from './message-filters.ts';
import { ResendForm } from './ResendForm.tsx';
import type { Message, Webhook } from './webhooks.ts';

type MessagesProps = { webhook: Webhook; filters: MessageFilters; onFilter: (filters: MessageFilters) => void };

const PAGE_SIZE = 50;
/** How often the list is read while an attempt is about to end. */
const SOON_POLL_MS = 1_500;
const SOON_S = 10;

/** The messages of a webhook, newest first. Each can be expanded to show its attempts. */
export function Messages({ webhook, filters, onFilter }: MessagesProps) {
  const [isResending, setIsResending] = useState(false);
  const isFiltered = filters.status !== undefined || filters.event !== undefined;
  return (
    <div>
      <div className="mb-3 flex flex-wrap items-end justify-between gap-3">
        <h2 className="text-lg font-semibold">Messages</h2>
        <div className="flex flex-wrap items-end gap-2">
          <Filters filters={filters} onFilter={onFilter} />
          {isFiltered && <Button onClick={() => onFilter({})}>Clear</Button>}
          {webhook.is_active === 1 && <Button onClick={() => setIsResending(true)}>Send missed</Button>}
        </div>
      </div>
      <MessageList webhook={webhook} filters={filters} isFiltered={isFiltered} />
      {isResending && (
        <Dialog
          onClose={() => setIsResending(false)}
          title="Send what was missed"
          description="Sends everything that this webhook has not got and subscribes to, oldest first: failed and cancelled messages, and events from times when it was inactive or did not subscribe to them."
        >
          <ResendForm webhookId={webhook.id} onDone={() => setIsResending(false)} />
        </Dialog>
      )}
    </div>
  );
}

function Filters({ filters, onFilter }: Pick<MessagesProps, 'filters' | 'onFilter'>) {
  const id = useWorkspaceId();
  const catalogue = useQuery({ ...trpc.webhooks.catalogue.queryOptions({ id }), staleTime: Number.POSITIVE_INFINITY });
  const events = catalogue.data?.events.map(({ name }) => name) ?? [];
  // The catalogue may not be there yet.
  const known = filters.event === undefined || events.includes(filters.event) ? events : [filters.event, ...events];
  return (
    <>
      <SelectField
        name="status"
        label="Outcome"
        value={filters.status ?? ''}
        onChange={({ target: { value } }) => {
          const { status: _, ...others } = filters;
          onFilter(isStatus(value) ? { ...others, status: value } : others);
        }}
        options={[
          { value: '', label: 'All' },
          ...Object.entries(statuses).map(([value, { label }]) => ({ value, label })),
        ]}
      />
      <SelectField
        name="event"
        label="Event"
        // Its options are read later, and must not make it wider.
        className="w-60"
        value={filters.event ?? ''}
        onChange={({ target: { value } }) => {
          const { event: _, ...others } = filters;
          const event = known.find((name) => name === value);
          onFilter(event === undefined ? others : { ...others, event });
        }}
        options={[{ value: '', label: 'All' }, ...known.map((name) => ({ value: name, label: name }))]}
      />
    </>
  );
}

type MessageListProps = { webhook: Webhook; filters: MessageFilters; isFiltered: boolean };

function MessageList({ webhook, filters, isFiltered }: MessageListProps) {
  const id = useWorkspaceId();
  const [openId, setOpenId] = useState<string | null>(null);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const messages = useInfiniteQuery({
    ...trpc.webhooks.messages.infiniteQueryOptions(
      { id, webhookId: webhook.id, limit: PAGE_SIZE, ...filters },
      { getNextPageParam: (page) => page.next_cursor },
    ),
    refetchInterval({ state: { data } }) {
      // Somebody who reads old messages must not be interrupted, and many pages must not be refetched repeatedly.
      if (data !== undefined && data.pages.length > 1) return false;
      return data?.pages[0]?.messages.some(isAttemptedSoon) ? SOON_POLL_MS : LIVE_POLL_MS;
    },
  });
  const queryClient = useQueryClient();
  const rows = messages.data?.pages.flatMap((page) => page.messages) ?? [];
  const attemptCount = rows.reduce((sum, message) => sum + message.attempt_count, 0);
  useEffect(() => {
    // An attempt may have changed the state of the webhook.
    if (attemptCount > 0) void queryClient.invalidateQueries(trpc.webhooks.list.pathFilter());
  }, [attemptCount, queryClient]);
  // What a filter hides is not sent.
  const chosen = rows.filter((message) => ticked.includes(message.id)).map((message) => message.id);
  return (
    <InfiniteList
      list={messages}
      rowsOf={(page) => page.messages}
      failure="The messages could not be loaded"
      empty={
        <EmptyState
          icon={<Inbox aria-hidden size={32} />}
          title={isFiltered ? 'Nothing matches' : 'Nothing was sent yet'}
        >
          {isFiltered ? 'Choose other filters, or clear them.' : 'Messages appear here when an event happens.'}
        </EmptyState>
      }
    >
      {() => (
        <div>
          {chosen.length > 0 && webhook.is_active === 1 && (
            <ResendChosen
              webhookId={webhook.id}
              messageIds={chosen}
              onDone={(done) => setTicked((before) => before.filter((id) => !done.includes(id)))}
            />
          )}
          <ul
            aria-label="Messages of the webhook"
            className="m-0 list-none divide-y divide-line rounded-xl border border-line p-0"
          >
            {rows.map((message) => (
              <MessageRow
                key={message.id}
                message={message}
                webhook={webhook}
                isOpen={message.id === openId}
                onToggle={() => setOpenId(message.id === openId ? null : message.id)}
                isTicked={ticked.includes(message.id)}
                onTick={(isTicked) =>
                  setTicked(isTicked ? [...ticked, message.id] : ticked.filter((one) => one !== message.id))
                }
              />
            ))}
          </ul>
        </div>
      )}
    </InfiniteList>
  );
}

function isAttemptedSoon({ status, next_attempt_at: at }: Message): boolean {
  return status === 'waiting' && at !== null && at - nowSeconds() < SOON_S;
}

type ResendChosenProps = {
  webhookId: number;
  messageIds: readonly string[];
  /** Called with the messages that need not be ticked any more. */
  onDone: (messageIds: readonly string[]) => void;
};

/** Sends the ticked messages again. If some calls fail, their messages stay ticked. */
function ResendChosen({ webhookId, messageIds, onDone }: ResendChosenProps) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const resend = useMutation({
    mutationFn: () =>
      Promise.all(
        messageIds.map(async (messageId) => {
          await client.webhooks.resendMessage.mutate({ id, webhookId, messageId });
          onDone([messageId]);
        }),
      ),
    onSuccess(sent) {
      showSuccess(sent.length === 1 ? '1 message is being sent again' : `${sent.length} messages are being sent again`);
    },
    onError: (error) => showError('Could not send all messages again', error),
    onSettled: () => queryClient.invalidateQueries(trpc.webhooks.pathFilter()),
  });
  return (
    <p className="mb-3 flex flex-wrap items-center gap-2">
      <Button size="small" tone="primary" isPending={resend.isPending} onClick={() => resend.mutate()}>
        {messageIds.length === 1 ? 'Send the chosen message again' : `Send ${messageIds.length} messages again`}
      </Button>
      <Button size="small" onClick={() => onDone(messageIds)}>
        Clear the selection
      </Button>
    </p>
  );
}

type MessageRowProps = {
  message: Message;
  webhook: Webhook;
  isOpen: boolean;
  onToggle: () => void;
  isTicked: boolean;
  onTick: (isTicked: boolean) => void;
};

function MessageRow({ message, webhook, isOpen, onToggle, isTicked, onTick }: MessageRowProps) {
  const { tone, label } = statuses[message.status];
  return (
    <li className="relative">
      {webhook.is_active === 1 && (
        <input
          type="checkbox"
          aria-label={`Choose ${message.event}, ${formatDateTime(message.created_at)}`}
          checked={isTicked}
          onChange={({ target }) => onTick(target.checked)}
          className="absolute top-3.5 left-4 size-4 accent-accent"
        />
      )}
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={onToggle}
        className={`flex w-full flex-wrap items-center gap-x-3 gap-y-1 py-2 pr-4 text-left hover:bg-hover ${webhook.is_active === 1 ? 'pl-12' : 'pl-4'}`}
      >
        <ChevronRight aria-hidden size={16} className={`shrink-0 transition-transform ${isOpen ? 'rotate-90' : ''}`} />
        <Badge tone={tone}>{label}</Badge>
        <code className="grow font-mono">{message.event}</code>
        <span className="text-sm text-muted">
          {message.attempt_count === 1 ? '1 attempt' : `${message.attempt_count} attempts`}
        </span>
        <span className="text-sm text-muted">
          <Time at={message.created_at} />
        </span>
      </button>
      {isOpen && <MessagePanel messageId={message.id} webhook={webhook} />}
    </li>
  );
}
