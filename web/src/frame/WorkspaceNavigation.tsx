import { Link } from '@tanstack/react-router';
import { BookOpen } from 'lucide-react';
import { isAtLeast } from '../lib/roles.ts';
import { useWorkspace } from '../lib/workspace.ts';
import { type NavigationEntry, type NavigationGroup, navigation, setup } from '../navigation.ts';

const entryClass =
  'flex min-h-9 items-center gap-3 rounded-lg px-3 py-1.5 no-underline hover:bg-hover aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text';

/** The links to the pages of a workspace that the user's role allows. */
export function WorkspaceNavigation() {
  return (
    <nav aria-label="Pages" className="flex flex-col gap-4">
      {navigation.map((group) => (
        <Group key={group.label} {...group} />
      ))}
      <hr className="border-line" />
      {setup.map((group) => (
        <Group key={group.label} {...group} />
      ))}
      {/* Not a page of the console. */}
      <a href="/docs" className={entryClass}>
        <BookOpen aria-hidden size={18} />
        API reference
      </a>
    </nav>
  );
}

function Group({ label, entries }: NavigationGroup) {
  const { id, role } = useWorkspace();
  const visible = entries.filter(({ min = 'member' }: NavigationEntry) => isAtLeast(role, min));
  if (visible.length === 0) return null;
  return (
    <div>
      {/* A heading over one entry says nothing more. */}
      {entries.length > 1 && <p className="mb-1 px-3 text-sm text-muted">{label}</p>}
      <ul className="m-0 flex list-none flex-col gap-0.5 p-0">
        {visible.map((entry) => (
          <li key={entry.to}>
            <Link
              to={entry.to}
              params={{ workspaceId: String(id) }}
              // The address of the first page begins those of all others.
              activeOptions={{ exact: entry.to === '/w/$workspaceId' }}
              className={entryClass}
            >
              <entry.icon aria-hidden size={18} />
              {entry.label}
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
