/** The poster of a recording, taken from the canvas while it is recorded. */
import type { Client } from '@lynxroom/client';
import { toPoster } from '../../lib/posters.ts';

/**
 * Makes the poster from what is on the canvas now, and sends it. Without one, lists show an icon, so it never rejects.
 */
export async function sendPoster(
  client: Client,
  { recordingId, uploadToken }: { recordingId: number; uploadToken: string },
  canvas: HTMLCanvasElement,
): Promise<void> {
  try {
    const image = await toPoster(canvas);
    await client.setRecordingPoster({ recordingId, uploadToken, image });
  } catch {
    // For example without a connection. A later one may work.
  }
}
