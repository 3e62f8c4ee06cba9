/** In which format the browser records. */

/**
 * The best first. H.264 takes the least of the processor, and plays everywhere. Safari has no Opus in an MP4, and
 * Chromium no AAC. Firefox records WebM only.
 */
const TYPES = [
  'video/mp4;codecs=avc1.42E01F,mp4a.40.2',
  'video/mp4;codecs=avc1.42E01F,opus',
  'video/mp4;codecs=avc1.64003E,opus',
  'video/mp4',
  'video/webm;codecs=vp8,opus',
  'video/webm',
] as const;

export type RecordingType = { mimeType: string; extension: 'mp4' | 'webm' };

/** Returns the best of the types that the browser can record; null if it has none of them. */
export function chooseType(isSupported: (mimeType: string) => boolean): RecordingType | null {
  const mimeType = TYPES.find(isSupported);
  if (mimeType === undefined) return null;
  return { mimeType, extension: mimeType.startsWith('video/mp4') ? 'mp4' : 'webm' };
}
