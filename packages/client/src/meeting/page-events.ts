/** Watches what makes connections break, or lets them come back. Returns a function that ends this. */
export function watchPage({ onNetworkChange, onShown }: { onNetworkChange(): void; onShown(): void }): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  window.addEventListener('online', onNetworkChange, { signal });
  // A page that the browser kept and shows again has lost its connections.
  window.addEventListener('pageshow', ({ persisted }) => persisted && onNetworkChange(), { signal });
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && onShown(), { signal });
  // Only some browsers have it. The event also reports a new estimate of the same network's speed.
  const connection: unknown = Reflect.get(navigator, 'connection');
  if (connection instanceof EventTarget) {
    const readType = (): unknown => Reflect.get(connection, 'type');
    let type = readType();
    const compare = (): void => {
      const isChanged = readType() !== type && navigator.onLine;
      type = readType();
      if (isChanged) onNetworkChange();
    };
    connection.addEventListener('change', compare, { signal });
  }
  return () => controller.abort();
}
