/**
 * `ETag` and `If-None-Match` (RFC 9110, sections 8.8.3 and 13.1.2): a caller that already has the response gets 304.
 */
import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { isUint8Array } from 'node:util/types';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The tags of Buffers. A Buffer that is sent repeatedly, such as the OpenAPI document, is hashed only once. */
const tags = new WeakMap<Uint8Array, string>();

/**
 * Adds an `ETag` to responses to GET, for callers that send `Accept-Encoding` or `If-None-Match`. Browsers and most
 * HTTP libraries do. Other callers do not pay for the hash, which is a considerable part of the cost of a list.
 *
 * The tag is a hash of the response, so every access check has run before a 304 is sent. A 304 saves bytes, not work
 * (docs/decisions/0024-http-details.md).
 */
export function answerConditionalReads(app: FastifyInstance): void {
  app.addHook<unknown>('onSend', (request, reply, payload, done) => {
    if (!isTagged(request, reply, payload)) return done(null, payload);
    const tag = String(reply.getHeader('etag') ?? tagOf(payload));
    reply.header('etag', tag);
    if (!includesTag(request.headers['if-none-match'], tag)) return done(null, payload);
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    // Fastify's HEAD routes set Content-Length to the length of the payload, unless the payload is a stream.
    done(null, request.method === 'HEAD' ? Readable.from([]) : null);
  });
}

function isTagged(
  { method, headers }: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): payload is string | Uint8Array {
  if (headers['accept-encoding'] === undefined && headers['if-none-match'] === undefined) return false;
  if ((method !== 'GET' && method !== 'HEAD') || reply.statusCode !== 200) return false;
  // A response that must not be stored needs no tag.
  if (String(reply.getHeader('cache-control')).includes('no-store')) return false;
  return typeof payload === 'string' || isUint8Array(payload);
}

/** The tag is weak, because the bytes of the response depend on the content encoding. */
function tagOf(payload: string | Uint8Array): string {
  const known = typeof payload === 'string' ? undefined : tags.get(payload);
  if (known !== undefined) return known;
  const tag = `W/"${hash('sha256', payload, 'base64url').slice(0, 22)}"`;
  if (typeof payload !== 'string') tags.set(payload, tag);
  return tag;
}

function includesTag(header: string | undefined, tag: string): boolean {
  if (header === undefined) return false;
  // The comparison is weak (RFC 9110, section 8.8.3.2): it ignores `W/`, which a cache may have removed.
  const opaque = tag.replace(/^W\//, '');
  return header.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === opaque);
}
