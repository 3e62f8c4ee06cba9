import type { ReactNode } from 'react';

/** In place of a list that has nothing: what belongs there, and how to add the first. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className="flex flex-col items-center gap-3 rounded-xl border border-dashed border-control-line px-6 py-12 text-center">
      {icon !== undefined && <span className="text-muted">{icon}</span>}
      <p className="text-lg font-medium">{title}</p>
      {children !== undefined && <div className="max-w-prose text-muted">{children}</div>}
      {action}
    </div>
  );
}
