import { lazy, Suspense } from 'react';
import { useDisplay } from '../lib/display.ts';

// Loaded when the service has failed, and not with the first page.
const CopyButton = lazy(() => import('./CopyButton.tsx').then((parts) => ({ default: parts.CopyButton })));

/** Copies the ID of a request that has failed. */
export function CopyRequestId({ id }: { id: string }) {
  const { texts } = useDisplay();
  return (
    <Suspense>
      <CopyButton text={id} label={texts['shared.copyRequestId']} />
    </Suspense>
  );
}
