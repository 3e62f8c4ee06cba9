/** Bodies of raw operations. */

import type { Content } from './transports.ts';
import { findRawOperation } from './transports.ts';

/** A multipart/form-data body with a file. */
export function fileContent(bytes: Buffer, filename: string, type: string): Content {
  const body = new FormData();
  body.append('file', new Blob([Uint8Array.from(bytes)], { type }), filename);
  return { body };
}

export function csvContent(text: string): Content {
  return { body: text, headers: { 'content-type': 'text/csv' } };
}

/** The bytes that continue a resumable upload. */
export function bytesContent(bytes: Buffer, offset = 0): Content {
  const headers = { 'content-type': 'application/offset+octet-stream', 'upload-offset': String(offset) };
  return { body: Uint8Array.from(bytes), headers };
}

/** The bytes of a poster. */
export function imageContent(bytes: Buffer): Content {
  return { body: Uint8Array.from(bytes), headers: { 'content-type': 'image/jpeg' } };
}

/** The error for a body of a type that the operation does not take. */
export type TypeRefusal = { content: Content; status: number; code: string; message: string; path?: string };

/** Returns null if the operation takes a body of any type, or no body. */
export function wrongTypeOf(name: string): TypeRefusal | null {
  const content = { body: '{"name":', headers: { 'content-type': 'application/json' } };
  switch (findRawOperation(name)?.request.kind) {
    case 'multipart':
      return { content, status: 400, code: 'BAD_REQUEST', message: 'File is required', path: 'file' };
    case 'csv':
      return { content, status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Content type must be text/csv' };
    case 'stream':
      return {
        content,
        status: 415,
        code: 'UNSUPPORTED_MEDIA_TYPE',
        message: 'Content type must be application/offset+octet-stream',
      };
    default:
      return null;
  }
}
