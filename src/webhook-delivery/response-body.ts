/** Converts response bodies to the text that is stored. */

/** How many bytes of a response body are read. */
export const MAX_RESPONSE_BYTES = 10_000;

const PLAIN_ENCODING = /^(?:identity)?$/i;
const ENCODING_NAME = /^[\w-]{1,20}$/;

/**
 * Returns a response body as text for the database. Bytes that are not UTF-8, and NUL, which PostgreSQL does not store,
 * become U+FFFD. If the body was truncated, an incomplete character at its end is dropped. A body with a
 * content-encoding is not decoded, since a few bytes can expand to gigabytes: the text names the encoding instead.
 */
export function toResponseText(body: Uint8Array, isWhole: boolean, contentEncoding: string): string {
  if (body.length === 0) return '';
  const encoding = contentEncoding.trim();
  if (!PLAIN_ENCODING.test(encoding)) return describeEncoded(encoding);
  // With `stream` the decoder holds back an incomplete character, as more bytes could follow.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body, { stream: !isWhole });
  return text.replaceAll('\0', '\uFFFD');
}

/** Includes the encoding only if it looks like a name, because the header can contain anything. */
function describeEncoded(encoding: string): string {
  return `(body not decoded: ${ENCODING_NAME.test(encoding) ? encoding : 'unrecognized'} encoding)`;
}
