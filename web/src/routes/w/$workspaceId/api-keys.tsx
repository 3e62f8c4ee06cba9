/** API keys: create, copy once, switch off, rotate, delete. */
import type { Inputs, Outputs } from '@lynxroom/client';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { Ellipsis, KeyRound, Plus } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button, IconButton } from '../../../components/Button.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { Form, SelectField, TextAreaField, TextField } from '../../../components/Form.tsx';
import { Menu, MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { RoleGate } from '../../../components/RoleGate.tsx';
import { InfiniteTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { nowSeconds } from '../../../lib/clock.ts';
import { useOptimisticMutation } from '../../../lib/optimistic.ts';
import { withRecentSignIn } from '../../../lib/recent-sign-in.ts';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useHasRole, useWorkspace } from '../../../lib/workspace.ts';
import { Secret } from './-developers/Secret.tsx';

// Loaded after a key was created.
const ConnectCode = lazy(() => import('./-developers/ConnectCode.tsx'));

type ApiKey = Outputs['apiKeys']['list']['apiKeys'][number];
type CreateInput = Inputs['apiKeys']['create'];
type Question = { kind: 'delete' | 'rotate'; key: ApiKey };

const PAGE_SIZE = 50;
const DAY = 86_400;

const rights = [
  { value: '', label: 'Everything that a key can do' },
  { value: 'read', label: 'Read only' },
  { value: 'write', label: 'Read and write' },
] as const;
const lifetimes = [
  { value: '', label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
];

export const Route = createFileRoute('/w/$workspaceId/api-keys')({ component: ApiKeysPage });

function listOptions(id: number) {
  return trpc.apiKeys.list.infiniteQueryOptions(
    { id, limit: PAGE_SIZE },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

function ApiKeysPage() {
  const mayWrite = useHasRole('admin');
  const [isCreating, setIsCreating] = useState(false);
  return (
    <>
      <PageHeader
        title="API keys"
        text="For programs that work in this workspace"
        actions={
          mayWrite && (
            <Button
              tone="primary"
              icon={<Plus aria-hidden size={18} />}
              aria-keyshortcuts={CREATE_KEY}
              onClick={() => setIsCreating(true)}
            >
              New key
            </Button>
          )
        }
      />
      <RoleGate min="admin" to="see and create API keys">
        <KeyTable />
        {isCreating && (
          <Dialog onClose={() => setIsCreating(false)} title="New API key">
            <CreateForm onDone={() => setIsCreating(false)} />
          </Dialog>
        )}
      </RoleGate>
    </>
  );
}

function KeyTable() {
  const { id } = useWorkspace();
  const isOwner = useHasRole('owner');
  const keys = useInfiniteQuery(listOptions(id));
  const [question, setQuestion] = useState<Question | null>(null);
  const setActive = useOptimisticMutation({
    mutationFn: ({ keyId, isActive }: { keyId: number; isActive: boolean }) =>
      client.apiKeys.toggle.mutate({ id, keyId, is_active: isActive ? 1 : 0 }),
    apply(cache, { keyId, isActive }) {
      cache.update(listOptions(id).queryKey, (answer) => ({
        ...answer,
        pages: answer.pages.map((page) => ({
          ...page,
          apiKeys: page.apiKeys.map((key) => (key.id === keyId ? { ...key, is_active: isActive ? 1 : 0 } : key)),
        })),
      }));
    },
    failure: 'Could not change the key',
  });
  return (
    <>
      <InfiniteTable
        list={keys}
        rowsOf={(page) => page.apiKeys}
        failure="The keys could not be loaded"
        empty={
          <EmptyState icon={<KeyRound aria-hidden size={32} />} title="There are no API keys yet">
            A key is shown once, when it is created.
          </EmptyState>
        }
        caption="API keys"
        keyOf={(key) => key.id}
        columns={[
          {
            heading: 'Name',
            cell: (key) => (
              <>
                <span className="font-medium">{key.name}</span>
                <span className="block text-sm text-muted">
                  <code className="font-mono">{key.key_prefix}…</code> by {key.created_by_name}
                </span>
              </>
            ),
            className: 'min-w-48',
          },
          { heading: 'State', cell: (key) => <State {...key} /> },
          { heading: 'Rights', cell: ({ scopes }) => scopes?.join(', ') ?? 'All' },
          {
            heading: 'Last used',
            cell: ({ last_used_at, last_used_address }) =>
              last_used_at === null ? (
                'Never'
              ) : (
                <>
                  <Time at={last_used_at} />
                  <span className="block text-sm text-muted">{last_used_address}</span>
                </>
              ),
          },
          {
            heading: 'Actions',
            isHeadingHidden: true,
            className: 'w-14 py-1',
            cell: (key) => (
              <Menu trigger={<IconButton label={`Actions on ${key.name}`} icon={<Ellipsis aria-hidden size={18} />} />}>
                <MenuItem onSelect={() => setActive.mutate({ keyId: key.id, isActive: key.is_active === 0 })}>
                  {key.is_active === 1 ? 'Switch off' : 'Switch on'}
                </MenuItem>
                <MenuItem onSelect={() => setQuestion({ kind: 'rotate', key })}>Rotate</MenuItem>
                {isOwner && (
                  <MenuItem isDanger onSelect={() => setQuestion({ kind: 'delete', key })}>
                    Delete
                  </MenuItem>
                )}
              </Menu>
            ),
          },
        ]}
      />
      {question?.kind === 'delete' && <DeleteDialog apiKey={question.key} onClose={() => setQuestion(null)} />}
      {question?.kind === 'rotate' && <RotateDialog apiKey={question.key} onClose={() => setQuestion(null)} />}
    </>
  );
}

function State({ is_active, expires_at }: ApiKey) {
  if (is_active === 0) return <Badge tone="warning">Off</Badge>;
  if (expires_at === null) return <Badge tone="success">On</Badge>;
  if (expires_at < nowSeconds()) return <Badge tone="danger">Expired</Badge>;
  return (
    <>
      <Badge tone="success">On</Badge>
      <span className="block text-sm text-muted">
        Ends <Time at={expires_at} />
      </span>
    </>
  );
}

function CreateForm({ onDone }: { onDone: () => void }) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const create = useMutation({
    mutationFn: (input: CreateInput) => withRecentSignIn(() => client.apiKeys.create.mutate(input)),
    // The key is shown at once.
    onSuccess: () => void queryClient.invalidateQueries(trpc.apiKeys.pathFilter()),
  });
  // The same for each press of the button, so that a press after a lost answer repeats the call.
  const [openedAt] = useState(() => Math.floor(nowSeconds()));

  function submit(values: FormData): void {
    const scope = rights.find(({ value }) => value !== '' && value === values.get('scopes'))?.value;
    const days = Number(values.get('expires_at'));
    const networks = String(values.get('allowed_networks'))
      .split(/[\s,]+/)
      .filter(Boolean);
    create.mutate({
      id,
      name: String(values.get('name')),
      belongs_to: values.get('belongs_to') === 'workspace' ? 'workspace' : 'user',
      ...(scope && { scopes: [scope] }),
      ...(days > 0 && { expires_at: openedAt + days * DAY }),
      ...(networks.length > 0 && { allowed_networks: networks }),
    });
  }

  if (create.isSuccess) {
    const { full_key } = create.data.apiKey;
    return (
      <Secret label="API key" value={full_key} onDone={onDone}>
        <Suspense>
          <ConnectCode workspaceId={id} apiKey={full_key} />
        </Suspense>
      </Secret>
    );
  }
  return (
    <Form onSubmit={submit} error={create.error}>
      <TextField name="name" label="Name" hint="What it is used for" required maxLength={100} />
      <SelectField name="scopes" label="Rights" options={rights} />
      <SelectField
        name="belongs_to"
        label="Acts for"
        options={[
          { value: 'user', label: 'You, until you leave' },
          { value: 'workspace', label: 'The workspace, even after you leave' },
        ]}
      />
      <SelectField name="expires_at" label="Expires" options={lifetimes} />
      <TextAreaField
        name="allowed_networks"
        label="Allowed networks"
        rows={2}
        hint="Addresses or networks such as 203.0.113.0/24. Leave empty for all."
      />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={create.isPending}>
          Create
        </Button>
      </DialogActions>
    </Form>
  );
}

function RotateDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const [fullKey, setFullKey] = useState<string | null>(null);
  if (fullKey !== null) {
    return (
      <Dialog onClose={onClose} title="The new key">
        <Secret label="API key" value={fullKey} onDone={onClose} />
      </Dialog>
    );
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Rotate ${apiKey.name}?`}
      text="You get a new key. The previous key keeps working for 24 hours."
      action="Rotate"
      tone="primary"
      onConfirm={async () => {
        const { apiKey: rotated } = await withRecentSignIn(() =>
          client.apiKeys.rotate.mutate({ id, keyId: apiKey.id }),
        );
        setFullKey(rotated.full_key);
        await queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
      }}
      closes={false}
    />
  );
}

function DeleteDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  return (
    <ConfirmDialog
      onClose={onClose}
      title={`Delete ${apiKey.name}?`}
      text="Programs with this key are refused at once. This cannot be undone."
      action="Delete"
      onConfirm={async () => {
        await client.apiKeys.delete.mutate({ id, keyId: apiKey.id });
        await queryClient.invalidateQueries(trpc.apiKeys.pathFilter());
        showSuccess('The key was deleted');
      }}
    />
  );
}
