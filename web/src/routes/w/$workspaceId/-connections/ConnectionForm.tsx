/** The forms that create a connection, and that replace its credentials. */
import type { Outputs } from '@lynxroom/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { Form, SelectField, TextField } from '../../../../components/Form.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import {
  type Connection,
  type Provider,
  providerOptions,
  providers,
  readCredentials,
  toProvider,
} from './providers.ts';

export type WithSecret = Outputs['connections']['create']['connection'];

export function CreateForm({ onCreated }: { onCreated: (connection: WithSecret) => void }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [provider, setProvider] = useState<Provider>('livekit');
  const create = useMutation(
    trpc.connections.create.mutationOptions({
      async onSuccess({ connection }) {
        onCreated(connection);
        await queryClient.invalidateQueries(trpc.connections.pathFilter());
      },
    }),
  );
  return (
    <Form
      error={create.error}
      onSubmit={(values) => {
        const credentials = readCredentials(provider, values);
        create.mutate({ id, name: String(values.get('name')), provider, ...(credentials && { credentials }) });
      }}
    >
      <UnsavedChanges save={create} />
      <TextField name="name" label="Name" required maxLength={100} autoComplete="off" />
      <SelectField
        name="provider"
        label="Provider"
        options={providerOptions}
        value={provider}
        onChange={({ target }) => setProvider(toProvider(target.value))}
      />
      <CredentialFields provider={provider} />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={create.isPending}>
          Connect
        </Button>
      </DialogActions>
    </Form>
  );
}

type RotateFormProps = { connection: Connection; onRotated: (connection: WithSecret) => void };

export function RotateForm({ connection, onRotated }: RotateFormProps) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const { provider } = connection;
  const rotate = useMutation(
    trpc.connections.rotate.mutationOptions({
      async onSuccess(answer) {
        onRotated(answer.connection);
        await queryClient.invalidateQueries(trpc.connections.pathFilter());
      },
    }),
  );
  return (
    <Form
      error={rotate.error}
      onSubmit={(values) => {
        const credentials = readCredentials(provider, values);
        rotate.mutate({ id, connectionId: connection.id, ...(credentials && { credentials }) });
      }}
    >
      <UnsavedChanges save={rotate} />
      <CredentialFields provider={provider} />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={rotate.isPending}>
          {provider === 'generic' ? 'Create a new secret' : 'Replace'}
        </Button>
      </DialogActions>
    </Form>
  );
}

function CredentialFields({ provider }: { provider: Provider }) {
  const { credentials } = providers[provider];
  if (credentials.length === 0) {
    return <p className="text-muted">The service generates the secret with which callbacks are signed.</p>;
  }
  return credentials.map(({ name, label, isSecret, isRequired, hint }) => (
    <TextField
      key={`${provider} ${name}`}
      name={name}
      label={isRequired ? label : `${label} (optional)`}
      type={isSecret ? 'password' : 'text'}
      autoComplete={isSecret ? 'new-password' : 'off'}
      required={isRequired}
      hint={hint}
    />
  ));
}
