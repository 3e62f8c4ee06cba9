import { Link } from '@tanstack/react-router';
import { isAtLeast } from '../lib/roles.ts';
import { useWorkspace } from '../lib/workspace.ts';
import { type NavigationEntry, navigation } from '../navigation.ts';

/** The links to the pages of a workspace that the user's role allows. */
export function WorkspaceNavigation() {
  const { id, role } = useWorkspace();
  const isVisible = ({ min = 'member' }: NavigationEntry): boolean => isAtLeast(role, min);
  return (
    <nav aria-label="Pages" className="flex flex-col gap-4">
      {navigation.map(({ label, entries }) => {
        const visible = entries.filter(isVisible);
        if (visible.length === 0) return null;
        return (
          <div key={label}>
            <p className="mb-1 px-3 text-sm text-muted">{label}</p>
            <ul className="m-0 flex list-none flex-col gap-0.5 p-0">
              {visible.map((entry) => (
                <li key={entry.to}>
                  <Link
                    to={entry.to}
                    params={{ workspaceId: String(id) }}
                    className="flex min-h-9 items-center gap-3 rounded-lg px-3 py-1.5 no-underline hover:bg-hover aria-[current=page]:bg-accent-soft aria-[current=page]:font-medium aria-[current=page]:text-accent-text"
                  >
                    <entry.icon aria-hidden size={18} />
                    {entry.label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
    </nav>
  );
}
