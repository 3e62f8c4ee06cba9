/** The settings of a workspace: its name, how long recordings are kept, leaving it, and deleting it. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { createFileRoute, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, buttonClass } from '../../../components/Button.tsx';
import { ConfirmDialog } from '../../../components/Dialog.tsx';
import { Form, TextField } from '../../../components/Form.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { Section } from '../../../components/Section.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { TypeToConfirmDialog } from '../../../components/TypeToConfirmDialog.tsx';
import { UnsavedChanges } from '../../../components/UnsavedChanges.tsx';
import { client } from '../../../lib/client.ts';
import { formatDate } from '../../../lib/format.ts';
import { useOptimisticMutation } from '../../../lib/optimistic.ts';
import { providersOptions } from '../../../lib/providers.ts';
import { withRecentSignIn } from '../../../lib/recent-sign-in.ts';
import { useAccount } from '../../../lib/session.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useWorkspace, workspaceOptions, workspaces } from '../../../lib/workspace.ts';
import { JoinByDomainSection, joinDomainOptions } from './-settings/JoinByDomain.tsx';
import { RecordingRetentionSection, retentionOptions } from './-settings/RecordingRetention.tsx';
import { RequiredSignInSection, requirementOptions } from './-settings/RequiredSignIn.tsx';

export const Route = createFileRoute('/w/$workspaceId/settings')({ component: SettingsPage });

function SettingsPage() {
  const { id, role, is_personal, created_at } = useWorkspace();
  const isOwner = role === 'owner';
  const isTeam = is_personal === 0;
  const retention = useQuery({ ...retentionOptions(id), enabled: isOwner });
  const requirement = useQuery({ ...requirementOptions(id), enabled: isOwner && isTeam });
  const joinDomain = useQuery({ ...joinDomainOptions(id), enabled: isOwner && isTeam });
  const providers = useQuery({ ...providersOptions, enabled: isOwner && isTeam });
  if (isOwner && [retention, ...(isTeam ? [requirement, joinDomain, providers] : [])].some((query) => query.isPending))
    return <SkeletonRows />;
  return (
    <>
      <PageHeader title="Settings" text={`This workspace was created on ${formatDate(created_at)}`} />
      <NameSection />
      {isOwner && <RecordingRetentionSection />}
      {isOwner && isTeam && <RequiredSignInSection />}
      {isOwner && isTeam && <JoinByDomainSection />}
      {isTeam && <OwnerSection />}
      {!isOwner && <LeaveSection />}
      {isOwner && isTeam && <DeleteSection />}
    </>
  );
}

function NameSection() {
  const { id, name, slug, role } = useWorkspace();
  const rename = useOptimisticMutation({
    mutationFn: (newName: string) => client.workspaces.rename.mutate({ id, name: newName }),
    apply(cache, newName) {
      cache.update(workspaceOptions(id).queryKey, (answer) => ({
        ...answer,
        workspace: { ...answer.workspace, name: newName },
      }));
      cache.update(workspaces.queryKey, (list) => list.map((one) => (one.id === id ? { ...one, name: newName } : one)));
    },
    failure: 'Could not rename the workspace',
    onSuccess: () => showSuccess('The workspace was renamed'),
  });
  return (
    <Section
      title="Name"
      text={
        <>
          Programs know the workspace by its ID, {id}, and its slug, <code className="font-mono">{slug}</code>. They do
          not change.
        </>
      }
    >
      {role === 'owner' ? (
        <Form onSubmit={(values) => rename.mutate(String(values.get('name')).trim())} className="max-w-md">
          <UnsavedChanges save={rename} />
          <TextField name="name" label="Name" defaultValue={name} maxLength={100} required />
          <Button type="submit" tone="primary" className="self-start" isPending={rename.isPending}>
            Save
          </Button>
        </Form>
      ) : (
        <p>
          <span className="font-medium">{name}</span>. Only the owner can rename the workspace.
        </p>
      )}
    </Section>
  );
}

function OwnerSection() {
  const { id, role } = useWorkspace();
  return (
    <Section
      title="Owner"
      text={
        role === 'owner'
          ? 'You own this workspace. You can make another member the owner on the Members page.'
          : 'The Members page shows who owns this workspace.'
      }
    >
      <Link
        to="/w/$workspaceId/members"
        params={{ workspaceId: String(id) }}
        className={`${buttonClass('secondary')} self-start`}
      >
        Go to the members
      </Link>
    </Section>
  );
}

function LeaveSection() {
  const { id, name } = useWorkspace();
  const me = useAccount();
  const [isOpen, setIsOpen] = useState(false);
  const goAway = useGoAway();
  return (
    <Section title="Leave the workspace" text="What you created stays here.">
      <Button className="self-start" onClick={() => setIsOpen(true)}>
        Leave
      </Button>
      {me && isOpen && (
        <ConfirmDialog
          onClose={() => setIsOpen(false)}
          title={`Leave ${name}?`}
          text="You lose access at once. To come back, you need a new invitation."
          action="Leave"
          onConfirm={async () => {
            await client.members.remove.mutate({ id, userId: me.id });
            await goAway(`You have left ${name}`);
          }}
        />
      )}
    </Section>
  );
}

function DeleteSection() {
  const { id, name } = useWorkspace();
  const [isOpen, setIsOpen] = useState(false);
  const goAway = useGoAway();
  return (
    <Section
      title="Delete the workspace"
      text="Deletes everything in it: rooms, recordings, files, contacts, booking pages and bookings. Guests with upcoming meetings are told."
    >
      <Button tone="danger" className="self-start" onClick={() => setIsOpen(true)}>
        Delete the workspace
      </Button>
      {isOpen && (
        <TypeToConfirmDialog
          onClose={() => setIsOpen(false)}
          title={`Delete ${name}?`}
          text="Everything in it is deleted for all members at once. This cannot be undone."
          expected={name}
          label="Name of the workspace"
          action="Delete"
          onConfirm={async () => {
            await withRecentSignIn(() => client.workspaces.delete.mutate({ id }));
            await goAway(`${name} was deleted`);
          }}
        />
      )}
    </Section>
  );
}

/** Navigates to another workspace after the user has left or deleted the current one. */
function useGoAway(): (message: string) => Promise<void> {
  const { id } = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async (message) => {
    showSuccess(message);
    // The start page redirects to another workspace of the list.
    queryClient.setQueryData(workspaces.queryKey, (list) => list?.filter((workspace) => workspace.id !== id));
    await navigate({ to: '/', replace: true, ignoreBlocker: true });
  };
}
