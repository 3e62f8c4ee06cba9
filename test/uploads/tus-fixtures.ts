/** Calls of the protocol tus, without a client. */
import { randomBytes } from 'node:crypto';
import type { Answer, CallOptions } from '../support/http.ts';
import { makePdf } from '../support/media.ts';
import type { TestApp } from '../support/test-app.ts';

export const TUS = { 'tus-resumable': '1.0.0' };

/** A PDF of exactly this many bytes, whose content is random. */
export function pdfOf(size: number): Buffer {
  return Buffer.concat([makePdf(), randomBytes(size)]).subarray(0, size);
}

export function toMetadata(values: Record<string, string>): string {
  return Object.entries(values)
    .map(([key, value]) => `${key} ${Buffer.from(value).toString('base64')}`)
    .join(',');
}

export const pdfMetadata = toMetadata({ filename: 'Offer.pdf', filetype: 'application/pdf', description: 'The first' });

export type NewUpload = { length?: number; metadata?: string; headers?: Record<string, string> };

/** Creates an upload at `path`. Without a length, the length is deferred. */
export function create(
  app: TestApp,
  path: string,
  token: string | undefined,
  { length, metadata = pdfMetadata, headers = {} }: NewUpload,
): Promise<Answer> {
  const size = length === undefined ? { 'upload-defer-length': '1' } : { 'upload-length': String(length) };
  return app.http.call('POST', path, { token, headers: { ...TUS, ...size, 'upload-metadata': metadata, ...headers } });
}

/** Creates an upload that must succeed. Returns its path. */
export async function created(app: TestApp, path: string, token: string, upload: NewUpload): Promise<string> {
  const { status, headers, body } = await create(app, path, token, upload);
  if (status !== 201) throw new Error(`The upload was not created: ${status} ${JSON.stringify(body)}`);
  return new URL(headers.get('location') ?? '').pathname;
}

export function append(
  app: TestApp,
  upload: string,
  token: string | undefined,
  offset: number,
  bytes: CallOptions['body'],
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const content = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
  return app.http.call('PATCH', upload, {
    token,
    body: bytes ?? new Uint8Array(),
    headers: { ...TUS, ...content, ...headers },
    ...(signal && { signal }),
  });
}

export function head(app: TestApp, upload: string, token: string | undefined): Promise<Answer> {
  return app.http.call('HEAD', upload, { token, headers: TUS });
}

export function cancel(app: TestApp, upload: string, token: string | undefined): Promise<Answer> {
  return app.http.call('DELETE', upload, { token, headers: TUS });
}
