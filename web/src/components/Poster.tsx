import { type ReactNode, useState } from 'react';

type PosterProps = {
  url: string | null;
  /** Shown without a poster, and until it has loaded. */
  icon: ReactNode;
  /** The size of the box. */
  className: string;
};

/** The picture of a file, beside its name. The box has the same size with and without a poster. */
export function Poster({ url, icon, className }: PosterProps) {
  const [failedUrl, setFailedUrl] = useState<string | null>(null);
  return (
    <div
      className={`relative flex shrink-0 items-center justify-center overflow-hidden rounded border border-line bg-panel text-muted ${className}`}
    >
      {icon}
      {url && url !== failedUrl && (
        <img
          src={posterPath(url)}
          alt=""
          loading="lazy"
          decoding="async"
          onError={() => setFailedUrl(url)}
          className="absolute inset-0 size-full object-cover object-top"
        />
      )}
    </div>
  );
}

/** The address of a poster on the page's own origin, where the browser sends the cookie of the session. */
export function posterPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
