import type { Outputs } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { RotateCw } from 'lucide-react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button } from '../../../../components/Button.tsx';
import { CopyButton } from '../../../../components/CopyButton.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { formatNumber } from '../../../../lib/format.ts';
import { LIVE_POLL_MS } from '../../../../lib/live.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { CodeBlock, toReadable } from './CodeBlock.tsx';
import type { Webhook } from './webhooks.ts';

type Attempt = Outputs['webhooks']['message']['message']['attempts'][number];

/** How often the message is read while it waits for an attempt. */
const SOON_POLL_MS = 1_500;

/** A message: its attempts with the responses, and the body that was sent. */
export function MessagePanel({ messageId, webhook }: { messageId: string; webhook: Webhook }) {
  const id = useWorkspaceId();
  const webhookId = webhook.id;
  const message = useQuery({
    ...trpc.webhooks.message.queryOptions({ id, webhookId, messageId }),
    refetchInterval: ({ state }) => (state.data?.message.status === 'waiting' ? SOON_POLL_MS : LIVE_POLL_MS),
  });
  if (message.isPending) return <SkeletonRows count={2} />;
  if (message.isError) {
    return (
      <ErrorPanel what="The message could not be loaded" error={message.error} onRetry={() => message.refetch()} />
    );
  }
  const { attempts, payload, next_attempt_at, status } = message.data.message;
  return (
    <div className="flex flex-col gap-4 border-t border-line p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="flex flex-wrap items-center gap-1 text-sm text-muted">
          <code className="font-mono">{messageId}</code>
          <CopyButton text={messageId} label="Copy the ID of the message" />
          {status === 'waiting' && next_attempt_at !== null && (
            <span>
              Next attempt <Time at={next_attempt_at} />
            </span>
          )}
        </p>
        {webhook.is_active === 1 ? (
          <ResendButton messageId={messageId} webhookId={webhookId} />
        ) : (
          <p className="text-sm text-muted">Switch the webhook on to send it again</p>
        )}
      </div>
      <section aria-label="Attempts" className="flex flex-col gap-3">
        <h3 className="font-medium">Attempts</h3>
        {attempts.length === 0 && <p className="text-muted">None yet</p>}
        {attempts.toReversed().map((attempt) => (
          <AttemptBox key={attempt.id} attempt={attempt} />
        ))}
      </section>
      <div>
        <h3 className="mb-1 font-medium">Request body</h3>
        <CodeBlock label="Request body" text={toReadable(payload)} />
      </div>
    </div>
  );
}

function AttemptBox({ attempt }: { attempt: Attempt }) {
  const { response_status: status, response_body: body, duration_ms, success, created_at } = attempt;
  return (
    <article className="flex flex-col gap-2 rounded-lg border border-line p-3">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">Attempt {attempt.attempt}</span>
        <Badge tone={success === 1 ? 'success' : 'danger'}>{status === 0 ? 'No response' : `Status ${status}`}</Badge>
        <span className="text-sm text-muted">{formatNumber(duration_ms)} ms</span>
        <span className="text-sm text-muted">
          <Time at={created_at} />
        </span>
      </p>
      {body === '' ? (
        <p className="text-sm text-muted">The response has no body</p>
      ) : (
        <CodeBlock label={`Response to attempt ${attempt.attempt}`} text={toReadable(body)} />
      )}
    </article>
  );
}

function ResendButton({ messageId, webhookId }: { messageId: string; webhookId: number }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const resend = useMutation({
    mutationFn: () => client.webhooks.resendMessage.mutate({ id, webhookId, messageId }),
    async onSuccess() {
      showSuccess('The message is being sent again');
      await queryClient.invalidateQueries(trpc.webhooks.pathFilter());
    },
    onError: (error) => showError('Could not send the message again', error),
  });
  return (
    <Button
      size="small"
      icon={<RotateCw aria-hidden size={14} />}
      isPending={resend.isPending}
      onClick={() => resend.mutate()}
    >
      Send again
    </Button>
  );
}
