import type { ReactNode } from 'react';
import { useTitle } from '../components/PageHeader.tsx';
import { isEmbedded } from '../lib/embedded.ts';
import { Logo } from './Logo.tsx';

type SignInFrameProps = { title: string; isWide?: boolean; children: ReactNode };

/** The frame of pages for people who are not signed in: one column in the middle. */
export function SignInFrame({ title, isWide = false, children }: SignInFrameProps) {
  useTitle(title);
  return (
    <div className={`flex flex-col items-center bg-panel ${isEmbedded ? 'p-3' : 'min-h-dvh px-4 py-10'}`}>
      {!isEmbedded && (
        <header className="mb-8">
          <Logo />
        </header>
      )}
      <main
        className={`flex w-full flex-col gap-5 rounded-2xl border border-line bg-raised p-6 shadow-raised sm:p-8 ${isWide ? 'max-w-5xl' : 'max-w-md'}`}
      >
        <h1 className="text-xl font-semibold">{title}</h1>
        {children}
      </main>
    </div>
  );
}
