import { type ReactNode, useEffect } from 'react';

/** The heading of a page, which is also the title of the browser's tab, and the actions on the page. */
export function PageHeader({ title, text, actions }: { title: string; text?: ReactNode; actions?: ReactNode }) {
  useTitle(title);
  return (
    <header className="mb-6 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
      <div className="min-w-0">
        <h1 className="text-2xl font-semibold">{title}</h1>
        {text !== undefined && <p className="mt-1 text-muted">{text}</p>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap gap-2">{actions}</div>}
    </header>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} - Lynxroom`;
  }, [title]);
}
