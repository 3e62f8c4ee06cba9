/** One webhook: its state, its messages and their attempts. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { Ellipsis, Pencil, Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button, IconButton } from '../../../components/Button.tsx';
import { ConfirmDialog, Dialog } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { Menu, MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { LIVE_POLL_MS } from '../../../lib/live.ts';
import { showError, showSuccess } from '../../../lib/toasts.ts';
import { useWorkspace } from '../../../lib/workspace.ts';
import { Messages } from './-developers/Messages.tsx';
import { isStatus, type MessageFilters } from './-developers/message-filters.ts';
import { Secret } from './-developers/Secret.tsx';
import { WebhookForm } from './-developers/WebhookForm.tsx';
import {
  describeState,
  type SentEvent,
  toEvents,
  useSetActive,
  type Webhook,
  webhooksOptions,
} from './-developers/webhooks.ts';

export const Route = createFileRoute('/w/$workspaceId/webhooks/$webhookId')({
  validateSearch: (search: Record<string, unknown>): MessageFilters => ({
    ...(isStatus(search.status) && { status: search.status }),
    // `as`: the service refuses an event that does not exist.
    ...(typeof search.event === 'string' && { event: search.event as SentEvent }),
  }),
  component: WebhookPage,
});

function WebhookPage() {
  const { id, role } = useWorkspace();
  const webhookId = Number(Route.useParams().webhookId);
  const webhooks = useQuery({
    ...webhooksOptions(id),
    refetchInterval: LIVE_POLL_MS,
    enabled: role !== 'member',
    select: (list) => list.find((webhook) => webhook.id === webhookId) ?? null,
  });
  if (role !== 'member' && webhooks.isSuccess && webhooks.data !== null) return <Details webhook={webhooks.data} />;
  return (
    <>
      <PageHeader title="Webhook" />
      <RoleGate min="admin" to="manage the webhooks">
        {webhooks.isPending && <SkeletonRows />}
        {webhooks.isError && (
          <ErrorPanel
            what="The webhook could not be loaded"
            error={webhooks.error}
            onRetry={() => webhooks.refetch()}
          />
        )}
        {webhooks.data === null && (
          <EmptyState title="There is no such webhook">
            It may have been deleted.{' '}
            <Link to="/w/$workspaceId/webhooks" params={{ workspaceId: String(id) }} className="link">
              All webhooks
            </Link>
          </EmptyState>
        )}
      </RoleGate>
    </>
  );
}

type Question = 'edit' | 'rotate' | 'delete';

function Details({ webhook }: { webhook: Webhook }) {
  const { id, role } = useWorkspace();
  const navigate = useNavigate({ from: Route.fullPath });
  const [question, setQuestion] = useState<Question | null>(null);
  const setActive = useSetActive(id);
  const test = useTest(webhook.id);
  const isActive = webhook.is_active === 1;
  const { tone, label } = describeState(webhook);
  return (
    <>
      <p className="mb-2">
        <Link to="/w/$workspaceId/webhooks" params={{ workspaceId: String(id) }} className="link">
          Webhooks
        </Link>
      </p>
      <PageHeader
        title={webhook.name}
        text={
          <>
            <Badge tone={tone}>{label}</Badge> <code className="font-mono">{webhook.url}</code>
          </>
        }
        actions={
          <>
            {isActive && (
              <Button icon={<Send aria-hidden size={16} />} isPending={test.isPending} onClick={() => test.mutate()}>
                Send a test
              </Button>
            )}
            <Button icon={<Pencil aria-hidden size={16} />} onClick={() => setQuestion('edit')}>
              Edit
            </Button>
            <Menu trigger={<IconButton label="More actions" icon={<Ellipsis aria-hidden size={18} />} />}>
              <MenuItem onSelect={() => setActive.mutate({ webhookId: webhook.id, isActive: !isActive })}>
                {isActive ? 'Switch off' : 'Switch on'}
              </MenuItem>
              <MenuItem onSelect={() => setQuestion('rotate')}>Rotate the secret</MenuItem>
              {role === 'owner' && (
                <MenuItem isDanger onSelect={() => setQuestion('delete')}>
                  Delete
                </MenuItem>
              )}
            </Menu>
          </>
        }
      />
      <Health webhook={webhook} onSwitchOn={() => setActive.mutate({ webhookId: webhook.id, isActive: true })} />
      <details className="mb-6">
        <summary>
          {toEvents(webhook).length === 1 ? '1 event' : `${toEvents(webhook).length} events`} subscribed
        </summary>
        <p className="mt-2 flex flex-wrap gap-1">
          {toEvents(webhook).map((event) => (
            <Badge key={event}>{event}</Badge>
          ))}
        </p>
      </details>
      <Messages
        webhook={webhook}
        filters={Route.useSearch()}
        onFilter={(filters) => navigate({ search: filters, replace: true })}
      />
      {question !== null && <QuestionDialog question={question} webhook={webhook} onClose={() => setQuestion(null)} />}
    </>
  );
}

function useTest(webhookId: number) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: () => client.webhooks.test.mutate({ id, webhookId }),
    async onSuccess() {
      showSuccess('The test message is being sent');
      await queryClient.invalidateQueries(trpc.webhooks.messages.pathFilter());
    },
    onError: (error) => showError('Could not send the test', error),
  });
}

/** What is wrong with the webhook, and what to do about it. */
function Health({ webhook, onSwitchOn }: { webhook: Webhook; onSwitchOn: () => void }) {
  const { is_active, disabled_reason, failure_count, previous_secret_expires_at } = webhook;
  const switchOn = <Button onClick={onSwitchOn}>Switch on</Button>;
  return (
    <>
      {is_active === 0 && disabled_reason !== null && (
        <Note tone="danger" title="The service has switched this webhook off" action={switchOn}>
          <p>Reason: {disabled_reason}</p>
          <p>Repair the receiver, switch the webhook on, and then send again what has failed.</p>
        </Note>
      )}
      {is_active === 0 && disabled_reason === null && (
        <Note tone="warning" title="This webhook is off" action={switchOn}>
          <p>Nothing is sent. Events that happen while it is off are not sent later either.</p>
        </Note>
      )}
      {is_active === 1 && failure_count > 0 && (
        <Note tone="warning" title={failure_count === 1 ? 'The last attempt failed' : 'The last attempts failed'}>
          <p>
            {failure_count === 1 ? 'One attempt has' : `${failure_count} attempts have`} failed since the last success.
            Each message is tried again for about three days. If everything fails for 5 days, the webhook is switched
            off.
          </p>
        </Note>
      )}
      {previous_secret_expires_at !== null && (
        <p className="mb-4 text-muted">
          Messages are also signed with the previous secret until{' '}
          <Time at={previous_secret_expires_at} isRelative={false} />.
        </p>
      )}
    </>
  );
}

type NoteProps = { tone: 'warning' | 'danger'; title: string; action?: ReactNode; children: ReactNode };

function Note({ tone, title, action, children }: NoteProps) {
  const colours = tone === 'danger' ? 'bg-danger-soft text-danger-text' : 'bg-warning-soft text-warning-text';
  return (
    <section
      aria-label={title}
      className={`mb-6 flex flex-wrap items-center justify-between gap-3 rounded-xl border border-line p-4 ${colours}`}
    >
      <div className="min-w-0">
        <h2 className="font-medium">{title}</h2>
        {children}
      </div>
      {action}
    </section>
  );
}

type QuestionDialogProps = { question: Question; webhook: Webhook; onClose: () => void };

function QuestionDialog({ question, webhook, onClose }: QuestionDialogProps) {
  if (question === 'edit') return <EditDialog webhook={webhook} onClose={onClose} />;
  if (question === 'rotate') return <RotateDialog webhook={webhook} onClose={onClose} />;
  return <DeleteDialog webhook={webhook} onClose={onClose} />;
}

type OwnDialogProps = Omit<QuestionDialogProps, 'question'>;

function EditDialog({ webhook, onClose }: OwnDialogProps) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const update = useMutation(
    trpc.webhooks.update.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.webhooks.pathFilter());
        showSuccess('Saved');
        onClose();
      },
    }),
  );
  return (
    <Dialog
      isWide
      onClose={onClose}
      title={`Edit ${webhook.name}`}
      description="Waiting messages go to the new URL. Waiting messages for events that you remove are cancelled."
    >
      <WebhookForm
        webhook={webhook}
        action="Save"
        error={update.error}
        isPending={update.isPending}
        onSubmit={(values) => update.mutate({ id, webhookId: webhook.id, ...values })}
      />
    </Dialog>
  );
}

function RotateDialog({ webhook, onClose }: OwnDialogProps) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState<string | null>(null);
  if (secret !== null) {
    return (
      <Dialog onClose={onClose} title="The new secret">
        <Secret label="secret" value={secret} onDone={onClose} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Rotate the secret of ${webhook.name}?`}
      text="For 24 hours, messages are signed with the new secret and with this one. Any older secret stops working at once."
      action="Rotate"
      tone="primary"
      onConfirm={async () => {
        const { webhook: rotated } = await client.webhooks.rotateSecret.mutate({ id, webhookId: webhook.id });
        setSecret(rotated.secret);
        await queryClient.invalidateQueries(trpc.webhooks.list.pathFilter());
      }}
      closes={false}
    />
  );
}

function DeleteDialog({ webhook, onClose }: OwnDialogProps) {
  const { id } = useWorkspace();
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${webhook.name}?`}
      text="Its messages are deleted too, and waiting messages are not sent. This cannot be undone."
      action="Delete"
      onConfirm={async () => {
        await client.webhooks.delete.mutate({ id, webhookId: webhook.id });
        await navigate({ to: '/w/$workspaceId/webhooks', params: { workspaceId: String(id) } });
        await queryClient.invalidateQueries(trpc.webhooks.list.pathFilter());
        showSuccess('The webhook was deleted');
      }}
    />
  );
}
