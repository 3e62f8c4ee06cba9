/** What the pages of a booking page and its bookings have in common: the frame, in the language of the guest. */
import type { ReactNode } from 'react';
import type { WriteText } from '../../../../src/languages/catalogue.ts';
import { SkeletonRows } from '../../components/Skeleton.tsx';
import { GuestFrame } from '../../frame/GuestFrame.tsx';
import { GuestLanguage } from '../../languages/GuestLanguage.tsx';
import { LanguagePicker } from '../../languages/LanguagePicker.tsx';
import { useTexts } from '../../languages/texts.ts';
import { useBranding } from './use-branding.ts';

type GuestPageProps = {
  slug: string;
  title: (write: WriteText) => string;
  isWide?: boolean;
  children: ReactNode;
};

export function GuestPage({ slug, title, isWide = false, children }: GuestPageProps) {
  const branding = useBranding(slug);
  const loading = (
    <GuestFrame title={slug} branding={branding} isWide={isWide}>
      <p className="h-10" />
      <SkeletonRows />
    </GuestFrame>
  );
  return (
    <GuestLanguage ofWorkspace={branding?.language ?? null} fallback={loading}>
      <InLanguage slug={slug} title={title} isWide={isWide}>
        {children}
      </InLanguage>
    </GuestLanguage>
  );
}

function InLanguage({ slug, title, isWide = false, children }: GuestPageProps) {
  const { write } = useTexts();
  const branding = useBranding(slug);
  return (
    <GuestFrame title={title(write)} branding={branding} isWide={isWide}>
      {/* The title arrives with the branding. A longer one would move the picker. */}
      {branding === undefined ? <p className="h-10" /> : <LanguagePicker />}
      {children}
    </GuestFrame>
  );
}
