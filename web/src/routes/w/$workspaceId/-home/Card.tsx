import type { ReactNode } from 'react';

/** A part of the first page, with a heading. */
export function Card({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section aria-label={title} className="min-w-0 rounded-xl border border-line p-4 sm:p-5">
      <div className="mb-3 flex min-h-8 flex-wrap items-center justify-between gap-2">
        <h2 className="text-lg font-semibold">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

export const rowClass =
  'flex min-h-12 flex-wrap items-center justify-between gap-x-3 gap-y-1 border-t border-line py-2';
