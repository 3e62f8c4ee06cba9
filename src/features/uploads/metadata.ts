/** The header Upload-Metadata: https://tus.io/protocols/resumable-upload#upload-metadata. */
import { isUtf8 } from 'node:buffer';
import { badField } from '../../core/errors.ts';

const HEADER = 'Upload-Metadata';
const MAX_LENGTH = 8_192;
const KEY = /^[!-+\--~]+$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/**
 * Returns the values by their keys. A key without a value has an empty one. Throws 400 if the header is malformed,
 * names a key twice, or has a value that is not Base64 of UTF-8.
 */
export function parseMetadata(header: string): Readonly<Record<string, string>> {
  if (header.length > MAX_LENGTH) throw badField(HEADER, `${HEADER} must have at most ${MAX_LENGTH} characters`);
  const values: Record<string, string> = Object.create(null);
  if (header.trim() === '') return values;
  for (const pair of header.split(',')) {
    const [key = '', encoded = '', ...rest] = pair.trim().split(' ');
    const bytes = Buffer.from(encoded, 'base64');
    if (!KEY.test(key) || key in values || rest.length > 0 || !BASE64.test(encoded) || !isUtf8(bytes))
      throw badField(HEADER, `${HEADER} must be a list of pairs: a key, a space and a value in Base64`);
    values[key] = bytes.toString();
  }
  return values;
}
