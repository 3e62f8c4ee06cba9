import type { Branding } from '@lynxroom/client';
import type { ReactNode } from 'react';
import { useTitle } from '../components/PageHeader.tsx';
import { isEmbedded } from '../lib/embedded.ts';
import { BrandHeader, LegalLinks, useBrandColor } from './Brand.tsx';

type GuestFrameProps = {
  title: string;
  /** Undefined while it is loaded, and null if it is not known. */
  branding: Branding | null | undefined;
  isWide?: boolean;
  children: ReactNode;
};

/** The frame of the pages that a workspace shows its guests. */
export function GuestFrame({ title, branding, isWide = false, children }: GuestFrameProps) {
  useTitle(title);
  useBrandColor(branding?.color ?? null);
  return (
    <div className={`flex flex-col items-center bg-panel ${isEmbedded ? 'p-3' : 'min-h-dvh px-4 py-8'}`}>
      <BrandHeader branding={branding} className={isEmbedded ? 'mb-3' : 'mb-8'} />
      <main
        className={`flex w-full flex-col gap-5 rounded-2xl border border-line bg-raised p-6 shadow-raised sm:p-8 ${isWide ? 'max-w-5xl' : 'max-w-md'}`}
      >
        <h1 className="text-xl font-semibold">{title}</h1>
        {children}
      </main>
      <LegalLinks branding={branding} />
    </div>
  );
}
