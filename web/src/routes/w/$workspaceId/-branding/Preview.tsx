import type { Branding } from '@lynxroom/client';
import { Button } from '../../../../components/Button.tsx';
import { BrandLogo, LegalLinks, toBrandStyle } from '../../../../frame/Brand.tsx';

/** A part of a booking page, with a branding that is not saved yet. */
export function Preview({ branding }: { branding: Branding }) {
  return (
    <figure
      aria-label="Preview"
      className={`flex flex-col items-center gap-6 rounded-xl border border-line bg-panel p-6 ${branding.color === null ? '' : 'brand'}`}
      style={toBrandStyle(branding.color)}
    >
      <BrandLogo branding={branding} />
      <div className="flex w-full max-w-sm flex-col gap-4 rounded-2xl border border-line bg-raised p-6">
        <p className="font-semibold">Intro call</p>
        <p className="flex flex-wrap items-center gap-2">
          <span className="rounded-lg bg-accent-soft px-3 py-2 font-medium text-accent-text">10:00</span>
          <span className="rounded-lg bg-accent px-3 py-2 font-medium text-on-accent">11:00</span>
        </p>
        <Button tone="primary">Book the meeting</Button>
      </div>
      <LegalLinks branding={branding} />
    </figure>
  );
}
