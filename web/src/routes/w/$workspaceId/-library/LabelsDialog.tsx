import type { Outputs } from '@lynxroom/client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../../../components/Button.tsx';
import { ConfirmDialog, Dialog } from '../../../../components/Dialog.tsx';
import { controlClass, Form, TextField } from '../../../../components/Form.tsx';
import { WholeList } from '../../../../components/Table.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { useOptimisticMutation } from '../../../../lib/optimistic.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { labelsOptions } from './labels.ts';

type Label = Outputs['labels']['list']['labels'][number];

const DEFAULT_COLOR = '#6366f1';
const MAX_NAME_LENGTH = 64;

/** Creates, renames, colors and deletes the labels of the workspace. */
export function LabelsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog onClose={onClose} title="Labels" description="An item can have any number of labels.">
      <CreateForm />
      <LabelList />
    </Dialog>
  );
}

function CreateForm() {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  // A new key empties the fields.
  const [round, setRound] = useState(0);
  const create = useMutation(
    trpc.labels.create.mutationOptions({
      async onSuccess() {
        setRound(round + 1);
        await queryClient.invalidateQueries(trpc.labels.pathFilter());
      },
    }),
  );
  return (
    <Form
      key={round}
      error={create.error}
      onSubmit={(values) => create.mutate({ id, name: String(values.get('name')), color: String(values.get('color')) })}
    >
      <div className="flex items-end gap-2">
        <TextField name="name" label="New label" required maxLength={MAX_NAME_LENGTH} className="grow" />
        <ColorInput label="Color of the new label" name="color" defaultValue={DEFAULT_COLOR} />
        <Button tone="primary" type="submit" isPending={create.isPending}>
          Create
        </Button>
      </div>
    </Form>
  );
}

function LabelList() {
  const { id } = useWorkspace();
  const options = labelsOptions(id);
  const labels = useQuery(options);
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Label | null>(null);
  const update = useOptimisticMutation({
    mutationFn: (input: { labelId: number; name?: string; color?: string }) =>
      client.labels.update.mutate({ id, ...input }),
    apply(cache, { labelId, ...changes }) {
      cache.update(options.queryKey, (list) =>
        list.map((label) => (label.id === labelId ? { ...label, ...changes } : label)),
      );
    },
    failure: 'Could not change the label',
    onSuccess: () => void queryClient.invalidateQueries(trpc.library.pathFilter()),
  });

  return (
    <>
      <WholeList
        list={labels}
        rowsOf={(data) => data}
        failure="The labels could not be loaded"
        empty={<p className="text-muted">There are no labels yet.</p>}
        skeletonRows={3}
      >
        {(rows) => (
          <ul className="flex flex-col gap-2">
            {rows.map((label) => (
              <li key={label.id} className="flex items-center gap-2">
                <ColorInput
                  label={`Color of ${label.name}`}
                  defaultValue={label.color}
                  onBlur={({ target }) =>
                    target.value !== label.color && update.mutate({ labelId: label.id, color: target.value })
                  }
                />
                <input
                  key={label.name}
                  aria-label={`Name of ${label.name}`}
                  defaultValue={label.name}
                  maxLength={MAX_NAME_LENGTH}
                  className={`h-10 ${controlClass}`}
                  onKeyDown={({ key, currentTarget }) => key === 'Enter' && currentTarget.blur()}
                  onBlur={({ target }) => {
                    const name = target.value.trim();
                    if (name === '') target.value = label.name;
                    else if (name !== label.name) update.mutate({ labelId: label.id, name });
                  }}
                />
                <IconButton
                  label={`Delete ${label.name}`}
                  icon={<Trash2 aria-hidden size={16} />}
                  onClick={() => setAsked(label)}
                />
              </li>
            ))}
          </ul>
        )}
      </WholeList>
      {asked && (
        <ConfirmDialog
          onClose={() => setAsked(null)}
          title={`Delete the label ${asked.name}?`}
          text="It is removed from every item. The items stay."
          action="Delete"
          onConfirm={async () => {
            await client.labels.delete.mutate({ id, labelId: asked.id });
            await Promise.all([
              queryClient.invalidateQueries(trpc.labels.pathFilter()),
              queryClient.invalidateQueries(trpc.library.pathFilter()),
            ]);
          }}
        />
      )}
    </>
  );
}

function ColorInput({ label, ...input }: { label: string } & React.InputHTMLAttributes<HTMLInputElement>) {
  return (
    <input
      type="color"
      aria-label={label}
      title={label}
      {...input}
      className="h-10 w-12 shrink-0 rounded-lg border border-control-line bg-raised p-1"
    />
  );
}
