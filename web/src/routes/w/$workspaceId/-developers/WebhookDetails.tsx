import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ellipsis, Pencil, Send } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Badge } from '../../../../components/Badge.tsx';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { Dialog } from '../../../../components/Dialog.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { PageHeader } from '../../../../components/PageHeader.tsx';
import { Time } from '../../../../components/Time.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { showError, showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { Messages } from './Messages.tsx';
import type { MessageFilters } from './message-filters.ts';
import { WebhookForm } from './WebhookForm.tsx';
import { describeState, toEvents, useSetActive, type Webhook } from './webhooks.ts';

type WebhookDetailsProps = {
  webhook: Webhook;
  filters: MessageFilters;
  onFilter: (filters: MessageFilters) => void;
  /** Further items of the menu. */
  actions?: ReactNode;
};

/** A webhook: its state, its form, its messages and their attempts. */
export function WebhookDetails({ webhook, filters, onFilter, actions }: WebhookDetailsProps) {
  const id = useWorkspaceId();
  const [isEditing, setIsEditing] = useState(false);
  const setActive = useSetActive(id);
  const test = useTest(webhook.id);
  const isActive = webhook.is_active === 1;
  const { tone, label } = describeState(webhook);
  return (
    <>
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
            <Button icon={<Pencil aria-hidden size={16} />} onClick={() => setIsEditing(true)}>
              Edit
            </Button>
            <Menu trigger={<IconButton label="More actions" icon={<Ellipsis aria-hidden size={18} />} />}>
              <MenuItem onSelect={() => setActive.mutate({ webhookId: webhook.id, isActive: !isActive })}>
                {isActive ? 'Switch off' : 'Switch on'}
              </MenuItem>
              {actions}
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
      <Messages webhook={webhook} filters={filters} onFilter={onFilter} />
      {isEditing && <EditDialog webhook={webhook} onClose={() => setIsEditing(false)} />}
    </>
  );
}

function useTest(webhookId: number) {
  const id = useWorkspaceId();
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

function EditDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const id = useWorkspaceId();
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
