import type { ReactNode } from 'react';
import { type GuestTexts, useTexts } from '../languages/texts.ts';
import type { CaptureFault, LocalMediaState } from './local-media.ts';

/** The guide says how to serve over HTTPS. */
const HTTPS_GUIDE = '/docs/guides/deployment#the-proxy';

/** Says why there is no camera or no microphone, and how to change it. It is no obstacle to joining. */
export function FaultNotes({ faults }: { faults: LocalMediaState['faults'] }) {
  const texts = useTexts();
  const { microphone, camera } = faults;
  if (microphone === null && camera === null) return null;
  return (
    <div role="status" className="flex flex-col gap-2 rounded-lg bg-warning-soft px-3 py-2 text-sm text-warning-text">
      {microphone !== null && microphone === camera ? (
        <p>{describe(texts, microphone, 'Both')}</p>
      ) : (
        <>
          {microphone !== null && <p>{describe(texts, microphone, 'Microphone')}</p>}
          {camera !== null && <p>{describe(texts, camera, 'Camera')}</p>}
        </>
      )}
      <p>{texts.write('device.allTheSame')}</p>
    </div>
  );
}

function describe(
  { write, writeWith }: GuestTexts,
  fault: CaptureFault,
  what: 'Both' | 'Microphone' | 'Camera',
): ReactNode {
  switch (fault) {
    case 'insecure':
      return writeWith('device.insecure', {
        guide: (
          <a key="guide" href={HTTPS_GUIDE} className="underline underline-offset-2">
            {write('device.httpsGuide')}
          </a>
        ),
      });
    case 'denied':
      return `${write(`device.denied${what}`)} ${write('device.allow')}`;
    case 'missing':
      return write(`device.missing${what}`);
    case 'busy':
      return `${write(`device.busy${what}`)} ${write('device.usedElsewhere')}`;
  }
}
