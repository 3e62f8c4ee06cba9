/** In which format the browser records. */

/**
 * The best first, with the codec of the sound. H.264 takes the least of the processor, and plays everywhere. Safari has
 * no Opus in an MP4, and Chromium no AAC. Firefox records WebM only.
 */
const TYPES: readonly (readonly [type: string, sound: string | null])[] = [
  ['video/mp4;codecs=avc1.42E01F', 'mp4a.40.2'],
  ['video/mp4;codecs=avc1.42E01F', 'opus'],
  ['video/mp4;codecs=avc1.64003E', 'opus'],
  ['video/mp4', null],
  ['video/webm;codecs=vp8', 'opus'],
  ['video/webm', null],
];

export type RecordingType = { mimeType: string; extension: 'mp4' | 'webm' };

/**
 * Returns the best of the types that the browser can record; null if it has none of them. Without sound it names no
 * codec of one, for which Firefox would wait forever.
 */
export function chooseType(isSupported: (mimeType: string) => boolean, hasSound: boolean): RecordingType | null {
  const mimeType = TYPES.map(([type, sound]) => (hasSound && sound !== null ? `${type},${sound}` : type)).find(
    isSupported,
  );
  if (mimeType === undefined) return null;
  return { mimeType, extension: mimeType.startsWith('video/mp4') ? 'mp4' : 'webm' };
}
