/** What the pages of guests show of the workspace: its color, its logo, and its legal links. */
import type { Branding } from '@lynxroom/client';
import { useContext, useLayoutEffect } from 'react';
import { createWriter } from '../../../src/languages/format-text.ts';
import { TextsContext } from '../languages/texts.ts';
import { brandTokens, toBrandColors } from '../lib/brand-colors.ts';
import { isEmbedded } from '../lib/embedded.ts';
import { Logo } from './Logo.tsx';

/** The properties that the class `brand` reads, for both themes. Empty without a color. */
export function toBrandStyle(color: string | null): Record<`--${string}`, string> {
  if (color === null) return {};
  const [light, dark] = [toBrandColors(color, 'light'), toBrandColors(color, 'dark')];
  return Object.fromEntries(
    brandTokens.flatMap((token) => [
      [`--light-${token}`, light[token]],
      [`--dark-${token}`, dark[token]],
    ]),
  );
}

/** Gives the whole document the color, so that dialogs and lists above the page have it too. */
export function useBrandColor(color: string | null): void {
  useLayoutEffect(() => {
    if (color === null) return;
    const { classList, style } = document.documentElement;
    const properties = Object.entries(toBrandStyle(color));
    for (const [name, value] of properties) style.setProperty(name, value);
    classList.add('brand');
    return () => {
      classList.remove('brand');
      for (const [name] of properties) style.removeProperty(name);
    };
  }, [color]);
}

/** The logo of the workspace, or that of the service. Nothing while it is loaded: the place stays the same. */
export function BrandLogo({ branding }: { branding: Branding | null | undefined }) {
  return (
    <span className="flex h-10 items-center justify-center">
      {branding === undefined ? null : branding?.logo_url ? (
        // The heading says whose page it is. The logo is on this origin, whatever address the service gives.
        <img
          src={new URL(branding.logo_url, location.href).pathname}
          alt=""
          className="h-10 w-60 max-w-full object-contain"
        />
      ) : (
        <Logo />
      )}
    </span>
  );
}

type BrandHeaderProps = { branding: Branding | null | undefined; className: string };

/** The logo above a page. In a frame, only that of the workspace: the page around it is not one of the service. */
export function BrandHeader({ branding, className }: BrandHeaderProps) {
  if (isEmbedded && !branding?.logo_url) return null;
  return (
    <header className={className}>
      <BrandLogo branding={branding} />
    </header>
  );
}

/** In the language of the page, if it has one: the preview in the console is English. */
export function LegalLinks({ branding }: { branding: Branding | null | undefined }) {
  const context = useContext(TextsContext);
  const write = context && createWriter(context.texts);
  const links = [
    { label: write?.('page.imprint') ?? 'Imprint', url: branding?.imprint_url },
    { label: write?.('page.privacy') ?? 'Privacy', url: branding?.privacy_url },
  ].filter(({ url }) => Boolean(url));
  if (links.length === 0) return null;
  return (
    <footer className="mt-6 flex gap-6 text-sm">
      {links.map(({ label, url }) => (
        <a key={label} href={url ?? undefined} target="_blank" rel="noreferrer" className="link">
          {label}
        </a>
      ))}
    </footer>
  );
}
