/** What is kept of the body of a receiver's answer. */

/** What is read of a body, in bytes. */
export const MAX_ANSWER_BYTES = 10_000;

const PLAIN_ENCODING = /^(?:identity)?$/i;
const ENCODING_NAME = /^[\w-]{1,20}$/;

/**
 * The body as text for the database: UTF-8, with U+FFFD for what is none and for NUL, which PostgreSQL refuses. The bytes
 * at the end that begin a character are left out where the body goes on beyond them. A body in a content-encoding is not
 * decoded, for a few bytes can unfold into gigabytes: the text says so instead.
 */
export function answerText(body: Uint8Array, isWhole: boolean, contentEncoding: string): string {
  if (body.length === 0) return '';
  const encoding = contentEncoding.trim();
  if (!PLAIN_ENCODING.test(encoding)) return encodedBody(encoding);
  // A decoder that is told of more to come keeps an unfinished character to itself.
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body, { stream: !isWhole });
  return text.replaceAll('\0', '\uFFFD');
}

/** A header's encoding is named in the text where it is a name, and not something that a receiver put there. */
function encodedBody(encoding: string): string {
  return `(a body in ${ENCODING_NAME.test(encoding) ? `${encoding} encoding` : 'an encoding'}, not decoded)`;
}
