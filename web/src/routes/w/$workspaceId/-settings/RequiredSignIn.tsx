/** What the workspace requires of the sessions of its members. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Button } from '../../../../components/Button.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Form, SelectField } from '../../../../components/Form.tsx';
import { Section } from '../../../../components/Section.tsx';
import { client, trpc } from '../../../../lib/client.ts';
import { refusalWith } from '../../../../lib/errors.ts';
import { useProviders } from '../../../../lib/providers.ts';
import { withRecentSignIn } from '../../../../lib/recent-sign-in.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';

const FACTOR = 'second_factor';
const PROVIDER = 'provider:';

/** What is required. Load it before the section is shown: otherwise the sections below it would move. */
export function requirementOptions(id: number) {
  return trpc.workspaces.signInRequirement.queryOptions({ id });
}

export function RequiredSignInSection() {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const providers = useProviders();
  const requirement = useQuery(requirementOptions(id));
  const set = useMutation({
    mutationFn: (chosen: string) =>
      withRecentSignIn(() => client.workspaces.setSignInRequirement.mutate(toInput(id, chosen))),
    onSuccess(answer) {
      queryClient.setQueryData(requirementOptions(id).queryKey, answer);
      showSuccess('The required sign-in was changed');
    },
  });
  const needsFactor = refusalWith(set.error, 'WORKSPACE_REQUIRES_SECOND_FACTOR');
  const needsProvider = refusalWith(set.error, 'WORKSPACE_REQUIRES_PROVIDER');
  return (
    <Section
      title="Required sign-in"
      text="Members who have not signed in this way see nothing of the workspace. API keys keep working."
    >
      {requirement.isError && <ErrorPanel error={requirement.error} onRetry={() => requirement.refetch()} />}
      {requirement.data && (
        <Form
          error={needsFactor || needsProvider ? null : set.error}
          onSubmit={(values) => set.mutate(String(values.get('required')))}
          className="max-w-md"
        >
          <SelectField
            name="required"
            label="Members must have"
            defaultValue={toChoice(requirement.data)}
            options={[
              { value: '', label: 'Signed in' },
              { value: FACTOR, label: 'Confirmed a second factor, or used a passkey' },
              ...providers.map(({ id: provider, name }) => ({
                value: `${PROVIDER}${provider}`,
                label: `Signed in with ${name}`,
              })),
            ]}
          />
          {(needsFactor || needsProvider) && (
            <p role="alert" className="rounded-lg bg-danger-soft px-3 py-2 text-danger-text">
              You would lock yourself out:{' '}
              {needsFactor ? 'confirm who you are with a second factor' : 'sign in with this provider'} first.{' '}
              <Link to="/account/security" className="link">
                Go to Security
              </Link>
            </p>
          )}
          <Button type="submit" tone="primary" className="self-start" isPending={set.isPending}>
            Save
          </Button>
        </Form>
      )}
    </Section>
  );
}

function toChoice({ required, provider }: { required: string | null; provider: { id: string } | null }): string {
  return required === 'provider' ? `${PROVIDER}${provider?.id ?? ''}` : (required ?? '');
}

function toInput(id: number, chosen: string) {
  if (chosen === '') return { id, required: null };
  if (chosen === FACTOR) return { id, required: FACTOR } as const;
  return { id, required: 'provider', provider: chosen.slice(PROVIDER.length) } as const;
}
