import { CustomSource, Input, MATROSKA, MP4, QTFF, WEBM } from 'mediabunny';
import type { RangedFile } from './range-reader.ts';

/** Opens a file for the media library. An MP4 without a brand counts as QuickTime. Dispose of the result. */
export function openInput({ size, read }: RangedFile): Input {
  return new Input({ formats: [MP4, QTFF, WEBM, MATROSKA], source: new CustomSource({ getSize: () => size, read }) });
}
