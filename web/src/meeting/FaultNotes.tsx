import type { ReactNode } from 'react';
import type { CaptureFault, CaptureKind, LocalMediaState } from './local-media.ts';

/** The guide says how to serve over HTTPS. */
const HTTPS_GUIDE = '/docs/guides/deployment#the-proxy';

/** Says why there is no camera or no microphone, and how to change it. It is no obstacle to joining. */
export function FaultNotes({ faults }: { faults: LocalMediaState['faults'] }) {
  const { microphone, camera } = faults;
  if (microphone === null && camera === null) return null;
  return (
    <div role="status" className="flex flex-col gap-2 rounded-lg bg-warning-soft px-3 py-2 text-sm text-warning-text">
      {microphone !== null && microphone === camera ? (
        <p>{describe(microphone, 'camera and microphone')}</p>
      ) : (
        <>
          {microphone !== null && <p>{describe(microphone, 'microphone')}</p>}
          {camera !== null && <p>{describe(camera, 'camera')}</p>}
        </>
      )}
      <p>You can take part all the same: you see and hear the others, and can use the chat.</p>
    </div>
  );
}

function describe(fault: CaptureFault, what: CaptureKind | 'camera and microphone'): ReactNode {
  switch (fault) {
    case 'insecure':
      return (
        <>
          This page was loaded over plain http, where browsers offer no camera and no microphone. Whoever runs this
          service finds in the{' '}
          <a href={HTTPS_GUIDE} className="underline underline-offset-2">
            HTTPS guide
          </a>{' '}
          how to change that.
        </>
      );
    case 'denied':
      return (
        `The browser was not allowed to use your ${what}. To change it, press the symbol beside the address of this ` +
        'page, allow it there, and then turn it on here. The settings of your system may forbid it, too.'
      );
    case 'missing':
      return `No ${what} was found. Connect one, and turn it on here.`;
    case 'busy':
      return `The ${what} could not be started. Another program may be using it: close that, and turn it on here.`;
  }
}
