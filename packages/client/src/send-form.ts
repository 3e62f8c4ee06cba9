/** Sends a multipart form with one file, or plain text, and reports how much of it has been sent. */
import { ConnectionError, readJson } from './errors.ts';
import { createKey } from './idempotency-keys.ts';

/** A file that is read while it is sent, for Node: it is never entirely in memory. */
export type FileStream = {
  stream: AsyncIterable<Uint8Array>;
  /** The size of the file in bytes, which the stream must have. */
  size: number;
  /** The media type, `application/pdf` or `video/mp4`. */
  type: string;
  /** The original filename. */
  name: string;
};

/** How much of a request has been sent, in bytes. The file is stored only when the call resolves. */
export type Progress = { sent: number; total: number };

export type SendRequest = {
  url: string;
  headers: Record<string, string>;
  credentials: NonNullable<RequestInit['credentials']>;
  onProgress: ((progress: Progress) => void) | undefined;
  signal: AbortSignal | undefined;
  fetch: typeof globalThis.fetch;
};

export type Form = {
  fields: Readonly<Record<string, string | undefined>>;
  file: Blob | FileStream;
  filename: string | undefined;
};

export type FormResponse = { status: number; body: unknown };

/** The part of XMLHttpRequest that is used here. TypeScript's DOM types would also apply to the server's code. */
type Xhr = {
  withCredentials: boolean;
  responseType: string;
  readonly status: number;
  readonly response: unknown;
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  onloadend: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: FormData | string | Blob): void;
  abort(): void;
};
/** Undefined outside browsers. */
const { XMLHttpRequest } = globalThis as { XMLHttpRequest?: new () => Xhr };

/**
 * Sends the form. Rejects with ConnectionError if the connection breaks, or the request is aborted. Browsers report
 * progress only through XMLHttpRequest, which is used if `onProgress` is given.
 */
export function sendForm(request: SendRequest, form: Form): Promise<FormResponse> {
  const isBlob = form.file instanceof Blob;
  if (isBlob && request.onProgress && XMLHttpRequest) {
    return sendByXhr(request, new XMLHttpRequest(), toForm(form));
  }
  return sendByFetch(request, isBlob && !request.onProgress ? { init: { body: toForm(form) } } : frame(form, request));
}

/** Sends a text unchanged. Rejects as `sendForm` does, and reports progress in browsers only. */
export function sendText(request: SendRequest, body: string | Blob, type: string): Promise<FormResponse> {
  const typed = { ...request, headers: { ...request.headers, 'content-type': type } };
  if (request.onProgress && XMLHttpRequest) return sendByXhr(typed, new XMLHttpRequest(), body);
  return sendByFetch(typed, { init: { body } });
}

function toForm({ fields, file, filename }: Form): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.append(name, value);
  // `as`: only called for a Blob. Bun sends a Blob without a name as a field.
  body.append('file', file as Blob, filename ?? nameOf(file) ?? 'blob');
  return body;
}

function sendByXhr(request: SendRequest, xhr: Xhr, body: FormData | string | Blob): Promise<FormResponse> {
  const { url, headers, credentials, onProgress, signal } = request;
  return new Promise((resolve, reject) => {
    let sent = '0 bytes';
    xhr.open('POST', url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.withCredentials = credentials === 'include';
    xhr.responseType = 'json';
    xhr.upload.onprogress = ({ loaded, total }) => {
      sent = `${loaded} of ${total} bytes`;
      onProgress?.({ sent: loaded, total });
    };
    const abort = (): void => xhr.abort();
    xhr.onload = () => {
      const { status, response } = xhr;
      const answer = { ok: status >= 200 && status <= 299, json: async () => response };
      readJson(answer).then((body) => resolve({ status, body }), reject);
    };
    xhr.onerror = xhr.onabort = () => reject(new ConnectionError(`after ${sent} were sent`));
    xhr.onloadend = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort);
    xhr.send(body);
  });
}

type Content = {
  init: { body: FormData | string | Blob | ReadableStream<Uint8Array>; duplex?: 'half' };
  headers?: Record<string, string>;
  /** Reads no more of the file, and closes its stream. */
  close?(): void;
};

/** Frames the form by hand, because `fetch` reports no progress, and no FormData can hold a stream. */
function frame({ fields, file, filename }: Form, { onProgress }: SendRequest): Content {
  const boundary = `lynxroom-${createKey()}`;
  const disposition = (name: string, more = '') =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}`;
  const texts = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${disposition(name)}\r\n\r\n${value}\r\n`],
  );
  const head = disposition('file', `; filename="${escapeQuotes(filename ?? nameOf(file) ?? 'file')}"`);
  const before = new TextEncoder().encode(`${texts.join('')}${head}\r\ncontent-type: ${file.type}\r\n\r\n`);
  const after = new TextEncoder().encode(`\r\n--${boundary}--\r\n`);
  const total = before.length + file.size + after.length;
  let isClosed = false;
  async function* parts(): AsyncGenerator<Uint8Array> {
    let sent = 0;
    const count = (chunk: Uint8Array): Uint8Array => {
      sent += chunk.length;
      onProgress?.({ sent, total });
      return chunk;
    };
    yield count(before);
    for await (const chunk of file instanceof Blob ? file.stream() : file.stream) {
      if (isClosed) return;
      yield count(chunk);
    }
    yield count(after);
  }
  return {
    init: { body: ReadableStream.from(parts()), duplex: 'half' },
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'content-length': String(total) },
    close() {
      isClosed = true;
    },
  };
}

export function nameOf(file: Blob | FileStream): string | undefined {
  return 'name' in file && typeof file.name === 'string' ? file.name : undefined;
}

/** As browsers do (https://html.spec.whatwg.org, "multipart/form-data encoding algorithm"). */
function escapeQuotes(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}

async function sendByFetch(
  { url, headers, credentials, signal, fetch }: SendRequest,
  content: Content,
): Promise<FormResponse> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      ...content.init,
      headers: { ...headers, ...content.headers },
      credentials,
      redirect: refusesRedirects() ? 'error' : 'manual',
      ...(signal && { signal }),
    }).catch((cause: unknown) => {
      throw new ConnectionError('while the file was being sent', { cause });
    });
    return { status: response.status, body: await readJson(response) };
  } finally {
    // Node's fetch reads on after it was aborted.
    content.close?.();
  }
}

/**
 * Node's fetch keeps the whole body in memory, to send it again after a redirect, unless it is to fail. Cloudflare
 * Workers know no such request.
 */
function refusesRedirects(): boolean {
  try {
    return new Request('http://localhost', { redirect: 'error' }).redirect === 'error';
  } catch {
    return false;
  }
}
