import type { ReactNode } from 'react';

type SectionProps = {
  title: string;
  text?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
};

/** A part of a page of settings, with a heading. */
export function Section({ title, text, actions, children }: SectionProps) {
  return (
    <section className="mb-6 flex flex-col gap-4 rounded-xl border border-line p-4 sm:p-6">
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h2 className="text-lg font-medium">{title}</h2>
          {text !== undefined && <div className="mt-1 max-w-prose text-muted">{text}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {children}
    </section>
  );
}
