/** The origins whose pages may show parts of a workspace in frames. They become part of a header. */
import { z } from 'zod';
import { badField } from '../../core/errors.ts';

export const MAX_EMBED_ORIGINS = 20;
const MAX_ORIGIN_LENGTH = 260;
const LOCAL = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::\d+)?$/;
/** What a source expression of a policy may hold: the URL parser also takes hosts with `;` and `*`. */
const ORIGIN = /^https?:\/\/(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:]+\])(?::\d+)?$/;

/** Origins in the form that browsers give them, without duplicates. */
export const embedOrigins = z
  .array(z.string().max(MAX_ORIGIN_LENGTH).transform(toOrigin))
  .max(MAX_EMBED_ORIGINS)
  .transform((origins) => [...new Set(origins)]);

function toOrigin(value: string, context: z.RefinementCtx): string {
  const url = URL.parse(value.trim());
  const isBare = url !== null && url.href === `${url.origin}/`;
  if (isBare && ORIGIN.test(url.origin) && (url.protocol === 'https:' || LOCAL.test(url.origin))) return url.origin;
  context.addIssue({
    code: 'custom',
    input: value,
    message: 'embed_origins must be origins such as https://app.example.com, without a path and without *',
  });
  return z.NEVER;
}

/** Throws 400 for an origin without TLS, unless this is a service for development. */
export function checkEmbedOrigins(origins: readonly string[], allowsHttp: boolean): void {
  if (!allowsHttp && origins.some((origin) => origin.startsWith('http:')))
    throw badField('embed_origins', 'embed_origins must begin with https://');
}
