import { useHasRole } from '../../../../lib/workspace.ts';

/** The color is a dot: text on a color that a user chose may be unreadable. */
export function LabelTag({ name, color }: { name: string; color: string }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1">
      <span aria-hidden className="size-2.5 shrink-0 rounded-full border border-line" style={{ background: color }} />
      <span title={name} className="truncate">
        {name}
      </span>
    </span>
  );
}

/** What a menu of labels shows if the workspace has none. */
export function NoLabels() {
  const mayWrite = useHasRole('admin');
  return (
    <p className="px-3 py-2 text-muted">
      There are no labels yet.{' '}
      {mayWrite ? 'Create one with “Labels” in the library.' : 'The owner and admins create them.'}
    </p>
  );
}
