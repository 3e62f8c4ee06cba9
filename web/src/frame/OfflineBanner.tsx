import { WifiOff } from 'lucide-react';
import { useSyncExternalStore } from 'react';

/** Says that the browser is offline, until it is back online. */
export function OfflineBanner() {
  const isOnline = useSyncExternalStore(subscribe, () => navigator.onLine);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-0 bottom-4 z-20 flex justify-center px-4">
      {!isOnline && (
        <p className="flex items-center gap-2 rounded-xl border border-line bg-warning-soft px-4 py-2 text-warning-text shadow-raised">
          <WifiOff aria-hidden size={18} className="shrink-0" />
          You are offline. What you see may be old.
        </p>
      )}
    </div>
  );
}

function subscribe(listener: () => void): () => void {
  addEventListener('online', listener);
  addEventListener('offline', listener);
  return () => {
    removeEventListener('online', listener);
    removeEventListener('offline', listener);
  };
}
