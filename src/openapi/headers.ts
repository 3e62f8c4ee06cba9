/** The headers of responses in the OpenAPI document. */

const count = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } as const;

/** The headers that many responses have, as components. */
export const headers = {
  RequestId: {
    description: "Identifies this call in the server's log",
    schema: { type: 'string' },
    example: '706dfcfb-d38a-4184-b596-5642486d82e6',
  },
  RateLimitLimit: {
    description: 'How many calls the caller may make in the current window; absent if no limit applies',
    schema: count,
    example: 600,
  },
  RateLimitRemaining: {
    description: 'How many calls are left in the current window; absent if no limit applies',
    schema: count,
    example: 599,
  },
  RateLimitReset: {
    description: 'Seconds until the window ends; absent if no limit applies',
    schema: count,
    example: 42,
  },
  RetryAfter: { description: 'Seconds to wait before trying again', schema: count, example: 5 },
  Etag: {
    description: 'Identifies this version of the response; send it as `If-None-Match`',
    schema: { type: 'string' },
    example: 'W/"q1MwNjK2VMpOTDE2BrIA5A"',
  },
  WwwAuthenticate: { description: '`Bearer`', schema: { type: 'string' }, example: 'Bearer' },
} as const;

const rateLimit = {
  'RateLimit-Limit': toReference('RateLimitLimit'),
  'RateLimit-Remaining': toReference('RateLimitRemaining'),
  'RateLimit-Reset': toReference('RateLimitReset'),
};

/** Statuses of requests that are rejected before they are counted. */
const uncounted: readonly number[] = [408, 414, 431];
/**
 * Statuses after which a caller may try again. A 409 is temporary while another import of contacts is running or the
 * idempotency key is in use.
 */
const temporary: readonly number[] = [409, 429, 503];

/** References to the headers of a response with the status. */
export function headersOf(status: number, hasTag = status === 304): Record<string, object> {
  return {
    'x-request-id': toReference('RequestId'),
    ...(!uncounted.includes(status) && rateLimit),
    ...(hasTag && { ETag: toReference('Etag') }),
    ...(temporary.includes(status) && { 'Retry-After': toReference('RetryAfter') }),
    ...(status === 401 && { 'WWW-Authenticate': toReference('WwwAuthenticate') }),
  };
}

export const notModified = {
  description: 'The `ETag` matches `If-None-Match`, so the caller already has this response',
  headers: headersOf(304),
};

function toReference(name: keyof typeof headers): { $ref: string } {
  return { $ref: `#/components/headers/${name}` };
}
