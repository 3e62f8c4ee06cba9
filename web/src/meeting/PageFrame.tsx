import type { Branding } from '@lynxroom/client';
import type { ReactNode } from 'react';
import { useTitle } from '../components/PageHeader.tsx';
import { BrandHeader, LegalLinks } from '../frame/Brand.tsx';

type PageFrameProps = {
  title: string;
  /** The color of the room. */
  color: string;
  branding: Branding;
  isWide?: boolean;
  children: ReactNode;
};

/** The frame of the pages before and after a meeting. */
export function PageFrame({ title, color, branding, isWide = false, children }: PageFrameProps) {
  useTitle(title);
  return (
    <div className="flex min-h-dvh flex-col items-center bg-panel px-4 py-6 sm:py-10">
      <BrandHeader branding={branding} className="mb-6" />
      <main
        className={`flex w-full flex-col gap-5 rounded-2xl border border-line bg-raised p-5 shadow-raised sm:p-8 ${isWide ? 'max-w-5xl' : 'max-w-md'}`}
      >
        <h1 className="flex items-center gap-2.5 text-xl font-semibold">
          {/* Decoration: text in a color that a user chose may be unreadable. */}
          <span aria-hidden className="size-3 shrink-0 rounded-full" style={{ background: color }} />
          <span className="min-w-0">{title}</span>
        </h1>
        {children}
      </main>
      <LegalLinks branding={branding} />
    </div>
  );
}
