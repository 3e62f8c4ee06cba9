/** Whether people may join the workspace by the domain of their address. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../../../components/Button.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { CheckboxField, Form } from '../../../../components/Form.tsx';
import { Section } from '../../../../components/Section.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';

/** The domain. Load it before the section is shown: otherwise the sections below it would move. */
export function joinDomainOptions(id: number) {
  return trpc.workspaces.joinDomain.queryOptions({ id });
}

export function JoinByDomainSection() {
  const { id } = useWorkspace();
  const found = useQuery(joinDomainOptions(id));
  return (
    <Section
      title="Joining by domain"
      text="People with a confirmed address of your own domain see the name of this workspace and yours, and can join as members without an invitation."
    >
      {found.isError && <ErrorPanel error={found.error} onRetry={() => found.refetch()} />}
      {found.data && <JoinDomainForm {...found.data} />}
    </Section>
  );
}

type Props = { domain: string | null; possible_domain: string | null; in_effect: number };

function JoinDomainForm({ domain, possible_domain: possible, in_effect }: Props) {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const set = useMutation(
    trpc.workspaces.setJoinDomain.mutationOptions({
      onSuccess(answer) {
        queryClient.setQueryData(joinDomainOptions(id).queryKey, answer);
        showSuccess(answer.domain === null ? 'Nobody joins by a domain' : `People at ${answer.domain} can join`);
      },
    }),
  );
  if (possible === null && domain === null)
    return <p>For this, your own address must be confirmed, and must not be one of a public mail provider.</p>;
  return (
    <Form
      error={set.error}
      onSubmit={(values) => set.mutate({ id, domain: values.get('is_open') === 'on' ? (possible ?? domain) : null })}
      className="max-w-md"
    >
      <UnsavedChanges save={set} />
      {domain !== null && in_effect === 0 && (
        <p>
          Nobody can join with an address at {domain} at present: it is not the domain of your own confirmed address.
        </p>
      )}
      <CheckboxField
        name="is_open"
        label={`People with an address at ${possible ?? domain} may join`}
        defaultChecked={domain !== null}
      />
      <Button type="submit" tone="primary" className="self-start" isPending={set.isPending}>
        Save
      </Button>
    </Form>
  );
}
