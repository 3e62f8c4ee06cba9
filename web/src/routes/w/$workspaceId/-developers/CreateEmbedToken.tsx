import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { Form, SelectField } from '../../../../components/Form.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { labelsOptions } from '../-library/labels.ts';
import { Secret } from './Secret.tsx';

const EmbedCode = lazy(() => import('./EmbedCode.tsx'));

const HOUR = 3_600;

const kinds = [
  { value: 'library', label: 'The library' },
  { value: 'webhooks', label: 'The webhooks' },
] as const;
const accesses = [
  { value: 'read', label: 'Read only' },
  { value: 'upload', label: 'Read and upload' },
] as const;
const lifetimes = [
  { value: String(HOUR / 6), label: 'In 10 minutes' },
  { value: String(HOUR), label: 'In an hour' },
  { value: String(24 * HOUR), label: 'In a day' },
];

/** The form for a new embed token, and then the token with the code for a page. */
export function CreateEmbedToken({ onDone }: { onDone: () => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [kind, setKind] = useState<string>('library');
  const labels = useQuery(labelsOptions(id));
  const create = useMutation(
    trpc.embedTokens.create.mutationOptions({
      // The token is shown at once.
      onSuccess: () => void queryClient.invalidateQueries(trpc.embedTokens.pathFilter()),
    }),
  );

  function submit(values: FormData): void {
    create.mutate({ id, ...toScope(values), expires_in: Number(values.get('expires_in')) });
  }

  if (create.isSuccess) {
    const { token, embed_token } = create.data;
    return (
      <Secret label="token" value={token} onDone={onDone}>
        <Suspense fallback={<SkeletonRows />}>
          <EmbedCode workspaceId={id} token={token} scope={embed_token} />
        </Suspense>
      </Secret>
    );
  }
  return (
    <Form onSubmit={submit} error={create.error}>
      <SelectField
        name="kind"
        label="Shows"
        options={kinds}
        value={kind}
        onChange={({ currentTarget }) => setKind(currentTarget.value)}
      />
      {kind === 'library' && (
        <>
          <SelectField name="access" label="Access" options={accesses} />
          <SelectField
            name="label_id"
            label="Items"
            hint="Uploads get the label. The token ends with it."
            options={[
              { value: '', label: 'All items' },
              ...(labels.data ?? []).map((label) => ({ value: String(label.id), label: `Labelled ${label.name}` })),
            ]}
          />
        </>
      )}
      <SelectField name="expires_in" label="Expires" options={lifetimes} defaultValue={String(HOUR)} />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={create.isPending}>
          Create
        </Button>
      </DialogActions>
    </Form>
  );
}

function toScope(values: FormData) {
  if (values.get('kind') === 'webhooks') return { kind: 'webhooks' } as const;
  const labelId = Number(values.get('label_id'));
  const access = values.get('access') === 'upload' ? 'upload' : 'read';
  return { kind: 'library', access, ...(labelId > 0 && { label_id: labelId }) } as const;
}
