import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Operation } from '../trpc/operations.ts';
import { addVary } from './response-headers.ts';

/**
 * Sends the output of an operation as JSON. If the operation redirects to a URL in its output, only callers that accept
 * JSON get the output. Other callers, such as a media element or a link, are redirected.
 */
export function sendOutput(
  { status, redirectsTo }: Operation,
  output: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (redirectsTo === null) return reply.status(status).send(output);
  addVary(reply, 'accept');
  if (asksForJson(request)) return reply.status(status).send(output);
  // The output schema has checked that the field is a string.
  return reply.redirect((output as Record<string, string>)[redirectsTo] ?? '', 302);
}

/** Whether the `Accept` header contains `application/json`. Browsers do not send this type for links or media. */
function asksForJson({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.split(',').some((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'application/json' && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}
