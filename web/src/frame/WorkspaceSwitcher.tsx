import { useNavigate, useParams } from '@tanstack/react-router';
import { ChevronsUpDown, Plus } from 'lucide-react';
import { useState } from 'react';
import { Menu, MenuChoice, MenuItem, MenuSeparator } from '../components/Menu.tsx';
import { FIRST_PAGE } from '../lib/first-page.ts';
import { CreateWorkspaceDialog } from './CreateWorkspaceDialog.tsx';
import { useNamedWorkspaces } from './named-workspaces.ts';

/** Shows which workspace the page belongs to, and leads to the others. */
export function WorkspaceSwitcher() {
  const workspaces = useNamedWorkspaces();
  const { workspaceId } = useParams({ strict: false });
  const navigate = useNavigate();
  const [isCreating, setIsCreating] = useState(false);
  const current = workspaces.find(({ id }) => String(id) === workspaceId);

  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            className="flex min-h-11 w-full items-center justify-between gap-2 rounded-lg border border-control-line bg-raised px-3 py-1.5 text-left hover:bg-hover"
          >
            <span className="min-w-0">
              <span className="sr-only">Workspace: </span>
              <span title={current?.name} className="line-clamp-2 font-medium">
                {current?.name ?? 'Choose a workspace'}
              </span>
            </span>
            <ChevronsUpDown aria-hidden size={16} className="shrink-0 text-muted" />
          </button>
        }
      >
        <MenuChoice
          label="Workspaces"
          value={workspaceId ?? ''}
          options={workspaces.map(({ id, name }) => ({ value: String(id), label: name }))}
          onChange={(id) => navigate({ to: FIRST_PAGE, params: { workspaceId: id } })}
        />
        <MenuSeparator />
        <MenuItem icon={<Plus aria-hidden size={16} />} onSelect={() => setIsCreating(true)}>
          New workspace
        </MenuItem>
      </Menu>
      {isCreating && <CreateWorkspaceDialog onClose={() => setIsCreating(false)} />}
    </>
  );
}
