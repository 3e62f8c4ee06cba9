/** Verifies the images that callers send as logos, and removes their metadata, as `poster-image.ts` does. */
import { badField } from '../core/errors.ts';
import { parsePng } from './png-image.ts';
import { parseJpeg, parseWebp } from './poster-image.ts';
import type { StoredImage } from './stored-images.ts';

export const logoTypes = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type LogoType = (typeof logoTypes)[number];

/** Of the file, in bytes. */
export const MAX_LOGO_BYTES = 262_144;
const MAX_SIDE = 2_000;
/** No image is shorter. */
const MIN_BYTES = 20;

/**
 * Returns the image without metadata, and without anything that follows it. Throws 400 unless it is a PNG, JPEG or WebP
 * with one picture of at most 2,000 × 2,000 pixels, whatever it is called.
 */
export function readLogoImage(bytes: Buffer): StoredImage<LogoType> {
  const parsed = bytes.length < MIN_BYTES ? null : (parsePng(bytes) ?? parseJpeg(bytes) ?? parseWebp(bytes));
  if (parsed === null) throw badField('logo', 'The logo must be a PNG, JPEG or WebP image');
  const { type, width, height, parts } = parsed;
  if (width < 1 || height < 1 || width > MAX_SIDE || height > MAX_SIDE)
    throw badField('logo', 'The logo may have at most 2,000 × 2,000 pixels');
  return { type, bytes: Buffer.concat(parts) };
}
