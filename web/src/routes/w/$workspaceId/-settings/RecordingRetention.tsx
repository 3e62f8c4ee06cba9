/** How long the recordings of the workspace are kept. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Form, SelectField } from '../../../../components/Form.tsx';
import { Section } from '../../../../components/Section.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { RetentionPreview, retentionDays, toDays } from './RetentionPreview.tsx';

/** The policy. Load it before the section is shown: otherwise the sections below it would move. */
export function retentionOptions(id: number) {
  return trpc.retention.readRecordings.queryOptions({ id });
}

export function RecordingRetentionSection() {
  return (
    <Section
      title="Recordings"
      text="Older recordings are deleted with their files, once a day. This cannot be undone."
    >
      <RecordingRetentionForm />
    </Section>
  );
}

function RecordingRetentionForm() {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const [chosen, setChosen] = useState<string | null>(null);
  const policy = useQuery(retentionOptions(id));
  const set = useMutation(
    trpc.retention.setRecordings.mutationOptions({
      async onSuccess() {
        await queryClient.invalidateQueries(trpc.retention.pathFilter());
        showSuccess('The retention of recordings was changed');
      },
    }),
  );
  const days = toDays(chosen);
  const preview = useQuery({
    ...trpc.retention.previewRecordings.queryOptions({ id, days: days ?? 365 }),
    enabled: days !== null,
  });
  if (policy.isPending) return <SkeletonRows count={1} />;
  if (policy.isError) return <ErrorPanel error={policy.error} onRetry={() => policy.refetch()} />;
  return (
    <Form
      error={set.error}
      onSubmit={(values) =>
        set.mutate({ id, recording_retention_days: toDays(String(values.get('recording_retention_days'))) })
      }
      className="max-w-md"
    >
      <UnsavedChanges save={set} />
      <SelectField
        name="recording_retention_days"
        label="Keep recordings for"
        defaultValue={policy.data.recording_retention_days ?? ''}
        onChange={(event) => setChosen(event.currentTarget.value)}
        options={retentionDays}
      />
      {days !== null && <RetentionPreview preview={preview.data} one="recording" many="recordings" />}
      <Button type="submit" tone="primary" className="self-start" isPending={set.isPending}>
        Save
      </Button>
    </Form>
  );
}
