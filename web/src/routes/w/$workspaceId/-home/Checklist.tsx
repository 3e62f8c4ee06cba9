import { useQuery } from '@tanstack/react-query';
import { Link, type LinkProps } from '@tanstack/react-router';
import { Circle, CircleCheck, X } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { IconButton } from '../../../../components/Button.tsx';
import { useAccount } from '../../../../lib/session.ts';
import { local } from '../../../../lib/storage.ts';
import { useWorkspace, useWorkspaces } from '../../../../lib/workspace.ts';
import { keysOptions, pagesOptions, usageOptions } from './queries.ts';

const CreateWorkspaceDialog = lazy(() =>
  import('../../../../frame/CreateWorkspaceDialog.tsx').then((module) => ({ default: module.CreateWorkspaceDialog })),
);

type Step = { label: string; isDone: boolean; to: NonNullable<LinkProps['to']> | 'new workspace' };

const HIDDEN_KEY = 'lynxroom.checklist';

/** The first steps. What the service has decides which are done. It goes when all are, or when the person hides it. */
export function Checklist() {
  const { id } = useWorkspace();
  const key = `${HIDDEN_KEY}.${id}`;
  const [isHidden, setIsHidden] = useState(() => local.read(key) !== null);
  const [isCreating, setIsCreating] = useState(false);
  const steps = useSteps();
  if (isHidden || steps === null || steps.every(({ isDone }) => isDone)) return null;
  const done = steps.filter(({ isDone }) => isDone).length;

  function hide(): void {
    local.write(key, 'hidden');
    setIsHidden(true);
  }

  return (
    <section aria-label="First steps" className="mb-6 rounded-xl border border-line bg-panel p-4 sm:p-5">
      <div className="mb-2 flex items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">
          First steps{' '}
          <span className="text-base font-normal text-muted">
            {done} of {steps.length}
          </span>
        </h2>
        <IconButton label="Hide the first steps" icon={<X aria-hidden size={18} />} onClick={hide} />
      </div>
      <ul className="m-0 grid list-none gap-x-6 gap-y-1 p-0 sm:grid-cols-2">
        {steps.map(({ label, isDone, to }) => (
          <li key={label} className="flex min-h-9 items-center gap-2">
            {isDone ? (
              <CircleCheck role="img" aria-label="Done:" size={18} className="shrink-0 text-success-text" />
            ) : (
              <Circle role="img" aria-label="To do:" size={18} className="shrink-0 text-muted" />
            )}
            {isDone && <span className="text-muted">{label}</span>}
            {!isDone && to === 'new workspace' && (
              <button type="button" className="link text-left" onClick={() => setIsCreating(true)}>
                {label}
              </button>
            )}
            {!isDone && to !== 'new workspace' && (
              <Link to={to} params={{ workspaceId: String(id) }} className="link">
                {label}
              </Link>
            )}
          </li>
        ))}
      </ul>
      {isCreating && (
        <Suspense>
          <CreateWorkspaceDialog onClose={() => setIsCreating(false)} />
        </Suspense>
      )}
    </section>
  );
}

/** Null until all is known. */
function useSteps(): Step[] | null {
  const { id, is_personal } = useWorkspace();
  const me = useAccount();
  const all = useWorkspaces();
  const usage = useQuery(usageOptions(id)).data?.usage;
  const pages = useQuery(pagesOptions(id)).data?.bookingPages;
  const keys = useQuery(keysOptions(id)).data?.apiKeys;
  if (usage === undefined || pages === undefined || keys === undefined) return null;
  return [
    { label: 'Confirm your address', isDone: me?.email_verified === true, to: '/account' },
    is_personal === 1
      ? { label: 'Create a team', isDone: all.length > 1, to: 'new workspace' }
      : { label: 'Invite somebody', isDone: usage.members.used > 1, to: '/w/$workspaceId/members' },
    { label: 'Create a room', isDone: usage.rooms.used > 0, to: '/w/$workspaceId/rooms' },
    { label: 'Upload a file', isDone: usage.items.used > 0, to: '/w/$workspaceId/library' },
    { label: 'Let guests book', isDone: pages.length > 0, to: '/w/$workspaceId/booking-pages' },
    {
      label: 'Call the API',
      isDone: keys.some(({ last_used_at }) => last_used_at !== null),
      to: '/w/$workspaceId/api-keys',
    },
  ];
}
