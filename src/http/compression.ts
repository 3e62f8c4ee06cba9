/**
 * Compresses responses of more than 1 kB for callers that accept compression (RFC 9110, section 12.5.3). This applies
 * only to responses to GET that may be stored. Other responses may contain a secret. Their compressed size could reveal
 * the secret to an attacker who chooses text next to it (BREACH).
 */

import { pipeline, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { isUint8Array } from 'node:util/types';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

type Encoding = 'br' | 'gzip';

/**
 * The compressed forms of a Buffer. A Buffer that is sent repeatedly, such as the OpenAPI document, is compressed only
 * once, even if several callers request it at the same time.
 */
const compressedForms = new WeakMap<Uint8Array, { br?: Promise<Buffer>; gzip?: Promise<Buffer> }>();

const MIN_BYTES = 1024;

/**
 * Files are not compressed: PDF and MP4 are already compressed, and `Range` counts uncompressed bytes. Repeated
 * requests for the pages and scripts of the docs are cheap, because these are Buffers that do not change.
 */
const COMPRESSIBLE = /^(?:application\/(?:json|x-ndjson)|text\/(?:csv|html|css|javascript|markdown|plain))\b/;

/** Higher levels take several times as long and save only a few percent. A small window needs less memory. */
const brotliOptions = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 18 },
};
const gzipOptions = { level: 4 };

const [brotliCompressed, gzipped] = [promisify(brotliCompress), promisify(gzip)];

/** Call this function after the hooks that read the payload are added. */
export function compressResponses(app: FastifyInstance): void {
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    const encoding = chooseEncoding(request, reply);
    if (encoding === null) return done(null, payload);
    if (isStream(payload))
      return done(null, request.method === 'HEAD' ? payload : compressStream(payload, encoding, reply));
    if (!isBody(payload) || Buffer.byteLength(payload) <= MIN_BYTES) return done(null, payload);
    compress(payload, encoding).then((compressed) => {
      startEncoding(reply, encoding);
      done(null, compressed);
    }, done);
  });
}

/** Returns null if the response should not be compressed. */
function chooseEncoding({ method, headers }: FastifyRequest, reply: FastifyReply): Encoding | null {
  const accepted = headers['accept-encoding'];
  if (accepted === undefined || (method !== 'GET' && method !== 'HEAD')) return null;
  if (String(reply.getHeader('cache-control')).includes('no-store')) return null;
  if (!COMPRESSIBLE.test(String(reply.getHeader('content-type') ?? '')) || reply.hasHeader('content-encoding'))
    return null;
  return preferredEncoding(String(accepted));
}

/** Returns Brotli unless gzip has a higher weight. Returns null if the caller accepts neither. */
export function preferredEncoding(accepted: string): Encoding | null {
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight.slice(2)) || 0);
  }
  const weightOf = (name: Encoding): number => weights.get(name) ?? weights.get('*') ?? 0;
  const [br, gz] = [weightOf('br'), weightOf('gzip')];
  if (br > 0 && br >= gz) return 'br';
  return gz > 0 ? 'gzip' : null;
}

function isStream(payload: unknown): payload is Readable {
  return typeof payload === 'object' && payload !== null && 'pipe' in payload && typeof payload.pipe === 'function';
}

/** When the caller hangs up, the response is destroyed, and `pipeline` destroys the source too. */
function compressStream(source: Readable, encoding: Encoding, reply: FastifyReply): Readable {
  startEncoding(reply, encoding);
  const compressor = encoding === 'br' ? createBrotliCompress(brotliOptions) : createGzip(gzipOptions);
  // An error in the source destroys the compressor. This ends the response.
  const compressed = pipeline(source, compressor, () => {});
  // The headers are sent with the first output of the compressor. Without this flush, it would buffer the first chunks.
  // The listener of `pipeline` runs first, so the chunk has been written when `flush` is called.
  source.once('data', () => compressor.flush());
  return compressed;
}

function isBody(payload: unknown): payload is string | Uint8Array {
  return typeof payload === 'string' || isUint8Array(payload);
}

function compress(payload: string | Uint8Array, encoding: Encoding): Promise<Buffer> {
  if (typeof payload === 'string') return compressAnew(payload, encoding);
  const forms = compressedForms.get(payload) ?? {};
  compressedForms.set(payload, forms);
  forms[encoding] ??= compressAnew(payload, encoding);
  return forms[encoding];
}

/** Runs in libuv's thread pool, so that the process can serve other requests. */
function compressAnew(payload: string | Uint8Array, encoding: Encoding): Promise<Buffer> {
  return encoding === 'br' ? brotliCompressed(payload, brotliOptions) : gzipped(payload, gzipOptions);
}

function startEncoding(reply: FastifyReply, encoding: Encoding): void {
  reply.header('content-encoding', encoding).removeHeader('content-length');
}
