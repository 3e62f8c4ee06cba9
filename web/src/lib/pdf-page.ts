/** Draws the first page of a PDF. A chunk of its own, because only the upload of a PDF needs it. */
import { getDocument, PDFDataRangeTransport, PDFWorker } from 'pdfjs-dist';

/** A larger picture is left out: decoded, it would have more than 200 MB. */
const MAX_PIXELS = 50_000_000;
const STOP_MS = 1_000;

type Limits = { maxWidth: number; maxHeight: number; signal: AbortSignal };

/**
 * Rejects if the page needs what the console does not have, so that it would be incomplete: the decoders of JPEG 2000,
 * JBIG2 and fax pictures, which are WebAssembly, and the character maps and fonts that a file may expect from readers.
 */
export async function drawFirstPage(file: File, { maxWidth, maxHeight, signal }: Limits): Promise<HTMLCanvasElement> {
  const missing: string[] = [];
  class BinaryDataFactory {
    async fetch({ filename }: { filename: string }): Promise<never> {
      missing.push(filename);
      throw new Error(`${filename} is not available`);
    }
  }
  const unread = Promise.withResolvers<never>();
  const port = new Worker(new URL('./pdf-worker.ts', import.meta.url), { type: 'module' });
  const loading = getDocument({
    range: new FileTransport(file, unread.reject),
    worker: PDFWorker.create({ port }),
    BinaryDataFactory,
    useWorkerFetch: false,
    disableAutoFetch: true,
    disableStream: true,
    maxImageSize: MAX_PIXELS,
    verbosity: 0,
  });

  async function drawPage(): Promise<HTMLCanvasElement> {
    const page = await (await loading.promise).getPage(1);
    const { width, height } = page.getViewport({ scale: 1 });
    const viewport = page.getViewport({ scale: Math.min(maxWidth / width, maxHeight / height) });
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.floor(viewport.width));
    canvas.height = Math.max(1, Math.floor(viewport.height));
    // For the screen, it would draw in animation frames, which a tab in the background does not get.
    const rendering = page.render({ canvas, viewport, intent: 'print' });
    rendering.onContinue = (next: () => void) => void setTimeout(next);
    await rendering.promise;
    if (missing.length > 0) throw new Error(`The page needs ${missing.join(', ')}`);
    return canvas;
  }

  try {
    return await Promise.race([drawPage(), rejectOn(signal), unread.promise]);
  } finally {
    // This also removes the fonts of the file from the page. A worker that is busy does not answer.
    await Promise.race([loading.destroy(), new Promise((resolve) => setTimeout(resolve, STOP_MS))]);
    port.terminate();
  }
}

/** Reads only the parts of a file that are needed. Calls `fail` if it was changed or deleted after it was chosen. */
class FileTransport extends PDFDataRangeTransport {
  readonly #file: File;
  readonly #fail: (reason: unknown) => void;

  constructor(file: File, fail: (reason: unknown) => void) {
    super(file.size, null);
    this.#file = file;
    this.#fail = fail;
  }

  override requestDataRange(begin: number, end: number): void {
    const slice = this.#file.slice(begin, end).arrayBuffer();
    slice.then((bytes) => this.onDataRange(begin, new Uint8Array(bytes)), this.#fail);
  }
}

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
