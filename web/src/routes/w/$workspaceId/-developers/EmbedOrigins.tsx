import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../../components/Button.tsx';
import { Form, TextAreaField } from '../../../../components/Form.tsx';
import { Section } from '../../../../components/Section.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useHasRole, useWorkspace, workspaceOptions } from '../../../../lib/workspace.ts';

/** The origins whose pages may show frames. The owner changes them. */
export function EmbedOrigins() {
  const { embed_origins: origins } = useWorkspace();
  const isOwner = useHasRole('owner');
  return (
    <Section
      title="Your origins"
      text={
        <>
          Only pages of these origins can show rooms, booking pages, the library and webhooks in frames. Anyone can read
          them in the headers of the frames.{' '}
          <a href="/docs/guides/embedding" className="link">
            Put a room into your product
          </a>
        </>
      }
    >
      {isOwner ? <OriginsForm origins={origins} /> : <OriginsList origins={origins} />}
    </Section>
  );
}

function OriginsForm({ origins }: { origins: readonly string[] }) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const save = useMutation(
    trpc.workspaces.rename.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(workspaceOptions(id));
        showSuccess('The origins were saved');
      },
    }),
  );
  return (
    <Form
      error={save.error}
      onSubmit={(values) =>
        save.mutate({
          id,
          embed_origins: String(values.get('embed_origins'))
            .split(/[\s,]+/)
            .filter(Boolean),
        })
      }
      className="max-w-md"
    >
      <UnsavedChanges save={save} />
      <TextAreaField
        name="embed_origins"
        label="Origins"
        rows={3}
        defaultValue={origins.join('\n')}
        hint="One in each line, at most 20, such as https://app.example.com"
      />
      <Button type="submit" tone="primary" className="self-start" isPending={save.isPending}>
        Save
      </Button>
    </Form>
  );
}

function OriginsList({ origins }: { origins: readonly string[] }) {
  return (
    <div>
      {origins.length > 0 && (
        <ul className="mb-2 font-mono text-sm">
          {origins.map((origin) => (
            <li key={origin} className="break-all">
              {origin}
            </li>
          ))}
        </ul>
      )}
      <p>{origins.length === 0 && 'There are none yet. '}Only the owner can change them.</p>
    </div>
  );
}
