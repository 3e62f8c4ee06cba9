import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { embedToken, isEmbedded } from '../lib/embedded.ts';

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
  const src = usePoster(url);
  return (
    <div
      className={`relative flex shrink-0 items-center justify-center overflow-hidden rounded border border-line bg-panel text-muted ${className}`}
    >
      {icon}
      {src && url !== failedUrl && (
        <img
          src={src}
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

/** What an image element can load: a frame has no cookie, so it reads the picture with its token. */
function usePoster(url: string | null): string | null {
  const { data = null } = useQuery({
    queryKey: ['poster', url],
    queryFn: () => (url === null ? null : readPoster(url)),
    enabled: isEmbedded && url !== null,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return isEmbedded ? data : url && posterPath(url);
}

async function readPoster(url: string): Promise<string | null> {
  const headers = { authorization: `Bearer ${embedToken.current}` };
  const response = await fetch(posterPath(url), { headers, credentials: 'omit' });
  if (!response.ok) return null;
  const picture = await response.blob();
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    // `as`: it is read as a data URL.
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(picture);
  });
}

/** The address of a poster on the page's own origin, where the browser sends the cookie of the session. */
export function posterPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
