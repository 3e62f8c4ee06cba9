import { useDisplay } from '../lib/display.ts';

/** Grey placeholder boxes, with the size of the content that is still loading. */
export function Skeleton({ className = 'h-4 w-full' }: { className?: string }) {
  return <span aria-hidden className={`block animate-pulse rounded-md bg-hover ${className}`} />;
}

export function SkeletonRows({ count = 5 }: { count?: number }) {
  const { texts } = useDisplay();
  return (
    <div role="status" className="flex flex-col gap-3 py-2">
      <span className="sr-only">{texts['shared.loading']}</span>
      {Array.from({ length: count }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are equal.
        <Skeleton key={index} className="h-10 w-full" />
      ))}
    </div>
  );
}

export function PageSkeleton() {
  return (
    <div className="flex flex-col gap-6">
      <Skeleton className="h-8 w-48" />
      <SkeletonRows />
    </div>
  );
}
