/**
 * The members of a workspace: roles, transfer of ownership, the invite link, and leaving. This page is the model for
 * other pages.
 */
import type { Outputs } from '@lynxroom/client';
import {
  type InfiniteData,
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { createFileRoute, useNavigate } from '@tanstack/react-router';
import { Ellipsis, Link2, LogOut, Mail, Search, ShieldCheck, UserMinus } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Badge } from '../../../components/Badge.tsx';
import { Button, IconButton } from '../../../components/Button.tsx';
import { CopyButton } from '../../../components/CopyButton.tsx';
import { ConfirmDialog, Dialog, DialogActions } from '../../../components/Dialog.tsx';
import { EmptyState } from '../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { Menu, MenuItem } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { InfiniteTable } from '../../../components/Table.tsx';
import { Time } from '../../../components/Time.tsx';
import { client, trpc } from '../../../lib/client.ts';
import { useOptimisticMutation } from '../../../lib/optimistic.ts';
import { withRecentSignIn } from '../../../lib/recent-sign-in.ts';
import { type Role, roleLabels } from '../../../lib/roles.ts';
import { useAccount } from '../../../lib/session.ts';
import { CREATE_KEY } from '../../../lib/single-keys.ts';
import { showSuccess } from '../../../lib/toasts.ts';
import { useHasRole, useWorkspace, workspaceOptions, workspaces } from '../../../lib/workspace.ts';
import { Invitations } from './-members/Invitations.tsx';
import { InviteByMail } from './-members/InviteByMail.tsx';
import { MemberFilters } from './-members/MemberFilters.tsx';
import { allMembersOf, type MemberFilter, membersOptions } from './-members/queries.ts';
import { TeamDialog } from './-members/TeamDialog.tsx';

type MemberPage = Outputs['members']['list'];
type Member = MemberPage['members'][number];
const MAX_SEARCH_LENGTH = 200;

type Question = { kind: 'remove' | 'leave' | 'transfer'; member: Member };

export const Route = createFileRoute('/w/$workspaceId/members')({
  validateSearch: ({ dialog, search, sort, order }: Record<string, unknown>): MemberFilter & { dialog?: 'mail' } => ({
    ...(dialog === 'mail' && { dialog }),
    ...(typeof search === 'string' && search !== '' && { search: search.slice(0, MAX_SEARCH_LENGTH) }),
    ...(sort === 'name' && { sort }),
    ...(order === 'desc' && { order }),
  }),
  loader: async ({ params }) => (await import('./-members/queries.ts')).loadMembers(Number(params.workspaceId)),
  component: MembersPage,
});

function MembersPage() {
  const isPersonal = useWorkspace().is_personal === 1;
  const mayInvite = useHasRole('admin');
  const [dialog, setDialog] = useState<'mail' | 'link' | null>(null);
  const [isSure, setIsSure] = useState(false);
  const { dialog: requested, ...filter } = Route.useSearch();
  const navigate = Route.useNavigate();
  // Links open the dialog once.
  useEffect(() => {
    if (requested === undefined) return;
    if (mayInvite) setDialog(requested);
    void navigate({ search: ({ dialog: _shown, ...filter }) => filter, replace: true });
  }, [requested, mayInvite, navigate]);
  return (
    <>
      <PageHeader
        title="Members"
        text="Who works in this workspace, and what they may do"
        actions={
          mayInvite && (
            <>
              <Button
                tone="primary"
                icon={<Mail aria-hidden size={18} />}
                aria-keyshortcuts={CREATE_KEY}
                onClick={() => setDialog('mail')}
              >
                Invite by mail
              </Button>
              <Button icon={<Link2 aria-hidden size={18} />} onClick={() => setDialog('link')}>
                Invite link
              </Button>
            </>
          )
        }
      />
      <MemberFilters filter={filter} onChange={(search) => void navigate({ search, replace: true })} />
      <MemberTable isPersonal={isPersonal} filter={filter} />
      {mayInvite && <Invitations />}
      {isPersonal && !isSure && dialog !== null && (
        <TeamDialog onClose={() => setDialog(null)} onContinue={() => setIsSure(true)} />
      )}
      {(!isPersonal || isSure) && dialog === 'mail' && <InviteByMail onClose={() => setDialog(null)} />}
      {(!isPersonal || isSure) && dialog === 'link' && <InviteDialog onClose={() => setDialog(null)} />}
    </>
  );
}

function MemberTable({ isPersonal, filter }: { isPersonal: boolean; filter: MemberFilter }) {
  const workspace = useWorkspace();
  const me = useAccount();
  const members = useInfiniteQuery({
    ...membersOptions(workspace.id, filter),
    // What was found before stays until the next is there.
    placeholderData: keepPreviousData,
  });
  const [question, setQuestion] = useState<Question | null>(null);
  const changeRole = useChangeRole(workspace.id);
  const mine = workspace.role;

  function actionsOn(member: Member): ReactNode {
    const isMe = member.id === me?.id;
    const mayPromote = mine === 'owner' ? !isMe : mine === 'admin' && member.role === 'member';
    const mayRemove = !isMe && (mine === 'owner' || (mine === 'admin' && member.role === 'member'));
    const mayLeave = isMe && mine !== 'owner';
    if (!mayPromote && !mayRemove && !mayLeave) return null;
    const other: Role = member.role === 'admin' ? 'member' : 'admin';
    return (
      <Menu trigger={<IconButton label={`Actions on ${member.name}`} icon={<Ellipsis aria-hidden size={18} />} />}>
        {mayPromote && (
          <MenuItem onSelect={() => changeRole.mutate({ member, role: other })}>Make {roleLabels[other]}</MenuItem>
        )}
        {mine === 'owner' && !isMe && !isPersonal && (
          <MenuItem
            icon={<ShieldCheck aria-hidden size={16} />}
            onSelect={() => setQuestion({ kind: 'transfer', member })}
          >
            Transfer ownership
          </MenuItem>
        )}
        {mayRemove && (
          <MenuItem
            isDanger
            icon={<UserMinus aria-hidden size={16} />}
            onSelect={() => setQuestion({ kind: 'remove', member })}
          >
            Remove
          </MenuItem>
        )}
        {mayLeave && (
          <MenuItem
            isDanger
            icon={<LogOut aria-hidden size={16} />}
            onSelect={() => setQuestion({ kind: 'leave', member })}
          >
            Leave
          </MenuItem>
        )}
      </Menu>
    );
  }

  return (
    <>
      <InfiniteTable
        list={members}
        rowsOf={(page) => page.members}
        failure="The members could not be loaded"
        empty={<EmptyState icon={<Search aria-hidden size={28} />} title="No member matches this search" />}
        caption="Members"
        keyOf={({ id }) => id}
        columns={[
          {
            heading: 'Name',
            cell: ({ id, name, email }) => (
              <>
                <span className="font-medium">{name}</span>
                {id === me?.id && <span className="text-muted"> (you)</span>}
                <span className="block text-sm text-muted">{email}</span>
              </>
            ),
            className: 'min-w-48',
          },
          {
            heading: 'Role',
            cell: ({ role }) => <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>{roleLabels[role]}</Badge>,
          },
          { heading: 'Joined', cell: ({ joined_at }) => <Time at={joined_at} /> },
          { heading: 'Actions', isHeadingHidden: true, cell: actionsOn, className: 'w-14 py-1' },
        ]}
      />
      <QuestionDialog question={question} onClose={() => setQuestion(null)} />
    </>
  );
}

/** The new role shows at once. It is taken back if the service refuses it. */
function useChangeRole(id: number) {
  return useOptimisticMutation({
    mutationFn: ({ member, role }: { member: Member; role: Role }) =>
      client.members.changeRole.mutate({ id, userId: member.id, role }),
    apply(cache, { member, role }) {
      cache.updateAll<InfiniteData<MemberPage>>(allMembersOf(id), (answer) => ({
        ...answer,
        pages: answer.pages.map((page) => ({
          ...page,
          members: page.members.map((one) => (one.id === member.id ? { ...one, role } : one)),
        })),
      }));
    },
    failure: 'Could not change the role',
  });
}

/** Asks before what cannot be undone. */
function QuestionDialog({ question, onClose }: { question: Question | null; onClose: () => void }) {
  const { id, name } = useWorkspace();
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  if (question === null) return null;
  const { kind, member } = question;
  const texts = {
    remove: {
      title: `Remove ${member.name}?`,
      text: `${member.name} loses access to ${name} at once. Their API keys and the invite link are revoked.`,
      action: 'Remove',
      done: `${member.name} was removed`,
    },
    leave: {
      title: `Leave ${name}?`,
      text: 'You lose access at once. To come back, you need a new invitation.',
      action: 'Leave',
      done: `You have left ${name}`,
    },
    transfer: {
      title: `Make ${member.name} the owner?`,
      text: `${member.name} can then do everything, including deleting the workspace. You become an admin.`,
      action: 'Transfer ownership',
      done: `${member.name} is now the owner`,
    },
  }[kind];

  async function carryOut(): Promise<void> {
    const input = { id, userId: member.id };
    if (kind === 'transfer') {
      await withRecentSignIn(() => client.members.changeRole.mutate({ ...input, role: 'owner' }));
    } else {
      await client.members.remove.mutate(input);
    }
    showSuccess(texts.done);
    if (kind === 'leave') {
      // The start page redirects to another workspace of the list.
      queryClient.setQueryData(workspaces.queryKey, (list) => list?.filter((workspace) => workspace.id !== id));
      await navigate({ to: '/' });
      return;
    }
    await Promise.all([
      queryClient.invalidateQueries(allMembersOf(id)),
      queryClient.invalidateQueries(workspaceOptions(id)),
    ]);
  }

  return (
    <ConfirmDialog
      onClose={onClose}
      title={texts.title}
      text={texts.text}
      action={texts.action}
      tone={kind === 'transfer' ? 'primary' : 'danger'}
      onConfirm={carryOut}
    />
  );
}

function InviteDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog
      onClose={onClose}
      title="Invite link"
      description="Anyone with this link can join the workspace as a member until you revoke the link."
    >
      <InviteLink />
    </Dialog>
  );
}

function InviteLink() {
  const { id } = useWorkspace();
  const create = useMutation(trpc.workspaces.invite.mutationOptions());
  const revoke = useMutation(
    trpc.workspaces.revokeInvite.mutationOptions({
      onSuccess() {
        create.reset();
        showSuccess('The invite link was revoked');
      },
    }),
  );
  const url = create.data?.url;
  const error = create.error ?? revoke.error;
  return (
    <>
      {error && <ErrorPanel what="The invite link could not be created or revoked" error={error} />}
      {url !== undefined && (
        <div className="flex items-center gap-2">
          <input
            ref={focusOn}
            readOnly
            aria-label="Invite link"
            value={url}
            onFocus={(event) => event.target.select()}
            className="h-10 min-w-0 grow rounded-lg border border-control-line bg-panel px-3 font-mono text-sm"
          />
          <CopyButton text={url} label="Copy the invite link" />
        </div>
      )}
      <DialogActions>
        {url === undefined ? (
          <Button key="show" tone="primary" isPending={create.isPending} onClick={() => create.mutate({ id })}>
            Show the link
          </Button>
        ) : (
          <Button key="revoke" isPending={revoke.isPending} onClick={() => revoke.mutate({ id })}>
            Revoke the link
          </Button>
        )}
      </DialogActions>
    </>
  );
}

/** Stable, so that React calls it once for an element. */
function focusOn(input: HTMLInputElement | null): void {
  input?.focus();
}
