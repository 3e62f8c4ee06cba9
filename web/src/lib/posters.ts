/** Posters: the pictures that lists show for files. The browser that uploads a file makes its poster. */
import type { LibraryItem } from '@lynxroom/client';

type MediaType = LibraryItem['mime_type'];

const drawers = { 'application/pdf': drawPage, 'video/mp4': drawFrame };

/** The maximums of the service. */
const MAX_WIDTH = 480;
const MAX_HEIGHT = 2_000;
const MAX_BYTES = 40_960;

const TIMEOUT_MS = 30_000;
/** Where in a video its poster is, as a share of its duration: videos often begin with a black frame. */
const POSITION = 0.1;
const QUALITIES = [0.8, 0.65, 0.5];
/** An image that is still too large at the lowest quality becomes smaller by this factor, several times. */
const SHRINK = 0.75;
const MIN_SCALE = 0.1;

/** Posters are made one after another: each may need a decoder, or a worker with much memory. */
let queue = Promise.resolve();

/**
 * Makes the poster of a file when the earlier ones are done, and passes it to `send`. If it cannot be made or sent, the
 * file has no poster, and nothing else happens.
 */
export function queuePoster(file: File, type: MediaType, send: (image: Blob) => Promise<unknown>): void {
  queue = queue.then(async () => {
    try {
      const canvas = await drawers[type](file, AbortSignal.timeout(TIMEOUT_MS));
      await send(await encode(canvas));
    } catch {
      // Lists show an icon then. Many files have no picture: PDFs with a password, MP4 files with sound only.
    }
  });
}

/** Makes a poster of a picture of any size. Rejects if it has no pixels, or cannot become small enough. */
export function toPoster(picture: HTMLCanvasElement): Promise<Blob> {
  const { width, height } = picture;
  return encode(draw(picture, width, height, Math.min(1, MAX_WIDTH / width, MAX_HEIGHT / height)));
}

async function drawPage(file: File, signal: AbortSignal): Promise<HTMLCanvasElement> {
  const { drawFirstPage } = await import('./pdf-page.ts');
  return drawFirstPage(file, { maxWidth: MAX_WIDTH, maxHeight: MAX_HEIGHT, signal });
}

async function drawFrame(file: File, signal: AbortSignal): Promise<HTMLCanvasElement> {
  const url = URL.createObjectURL(file);
  const video = document.createElement('video');
  try {
    video.muted = true;
    video.playsInline = true;
    video.preload = 'auto';
    video.src = url;
    await waitFor(video, 'loadedmetadata', signal);
    // The duration of a video in fragments may be infinite.
    video.currentTime = Number.isFinite(video.duration) ? video.duration * POSITION : 0;
    await waitFor(video, 'seeked', signal);
    const { videoWidth, videoHeight } = video;
    return draw(video, videoWidth, videoHeight, Math.min(1, MAX_WIDTH / videoWidth, MAX_HEIGHT / videoHeight));
  } finally {
    // Frees the decoder.
    video.removeAttribute('src');
    video.load();
    URL.revokeObjectURL(url);
  }
}

function waitFor(video: HTMLVideoElement, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    video.addEventListener(event, () => resolve(), { once: true, signal });
    video.addEventListener('error', () => reject(new Error(video.error?.message)), { once: true, signal });
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

/** Throws if there is nothing to draw, as in a file with sound only. */
function draw(source: CanvasImageSource, width: number, height: number, scale: number): HTMLCanvasElement {
  if (width === 0 || height === 0) throw new Error('There is no picture');
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.floor(width * scale));
  canvas.height = Math.max(1, Math.floor(height * scale));
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('The browser cannot draw');
  context.imageSmoothingQuality = 'high';
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return canvas;
}

/** Lowers the quality first, and then the size, until the image is small enough. */
async function encode(picture: HTMLCanvasElement): Promise<Blob> {
  for (let scale = 1; scale > MIN_SCALE; scale *= SHRINK) {
    const canvas = scale === 1 ? picture : draw(picture, picture.width, picture.height, scale);
    for (const quality of QUALITIES) {
      const image = await toJpeg(canvas, quality);
      if (image.size <= MAX_BYTES) return image;
    }
  }
  throw new Error('The image is too large');
}

function toJpeg(canvas: HTMLCanvasElement, quality: number): Promise<Blob> {
  return new Promise((resolve, reject) => {
    const receive = (image: Blob | null) => (image === null ? reject(new Error('No JPEG')) : resolve(image));
    canvas.toBlob(receive, 'image/jpeg', quality);
  });
}
