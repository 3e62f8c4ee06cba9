/** What the operations of posters have in common. */
import { z } from 'zod';
import { MAX_POSTER_BYTES, posterTypes } from '../media/poster-image.ts';
import type { Poster } from '../media/posters.ts';

/** The URL of a poster changes with the poster, so browsers ask for each poster once. */
const KEPT = 'private, max-age=31536000, immutable';

export const posterRules =
  'The body is a JPEG or WebP of at most 40 kB (40,960 bytes) and 480 × 2,000 pixels, whatever its content type. ' +
  'The structure of the image is verified, and its metadata is removed. Replaces an earlier poster.';

export const posterRequest = { kind: 'bytes', maxBytes: MAX_POSTER_BYTES, types: posterTypes } as const;

/** The parts of an operation that returns a poster. */
export const posterReading = {
  method: 'GET',
  description:
    'Returns the image. Browsers may keep it if the URL has the `v` of `poster_url`, which changes with the poster. ' +
    '404 "Poster not found" without a poster.',
  query: z.object({ v: z.string().max(100).describe('The version of the poster, from `poster_url`').optional() }),
  request: { kind: 'none' },
  response: { kind: 'image', types: posterTypes, description: 'The image' },
  refusals: [404],
} as const;

/** Sets the headers of a poster, and returns its bytes. */
export function sendPoster(
  { type, bytes, version }: Poster,
  { query, setHeader }: { query: { v?: string | undefined }; setHeader(name: string, value: string): void },
): Buffer {
  setHeader('content-type', type);
  if (query.v === version) setHeader('cache-control', KEPT);
  return bytes;
}
