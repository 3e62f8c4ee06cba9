/**
 * Serves the console, the pages of `web/src`. All of them are one HTML page, whose script renders the page that the
 * path names. This HTML page is the response to every path without a route, but only if a browser navigates to it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { preferredEncoding } from '../http/compression.ts';
import { addVary, pageHeaders } from '../http/response-headers.ts';
import type { Console, ConsoleFile } from './read-console.ts';

/** Below these paths, nothing is a page of the console, so that a program never gets HTML for a misspelt path. */
const NEVER_PAGES = /^\/(?:api|trpc|files|docs|openapi\.json|health|ready|metrics|assets|pages|dev)(?:\/|$)/i;

const PAGE_CACHING = 'no-cache';
const HASHED_CACHING = 'public, max-age=31536000, immutable';

export type ConsoleServer = {
  /** Sends the page if a browser navigates to a path that may be a page. Returns null for all other requests. */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply | null;
};

/**
 * Adds a route for each file of the console. `storageOrigins` are the origins of downloads, from which the console may
 * load media.
 */
export function serveConsole(
  app: FastifyInstance,
  { page, files }: Console,
  storageOrigins: readonly string[],
): ConsoleServer {
  const headers = {
    ...pageHeaders,
    'content-security-policy': createPolicy(storageOrigins),
    'x-frame-options': 'DENY',
  };
  for (const file of files) app.get(file.path, (request, reply) => sendFile(file, request, reply.headers(headers)));
  return {
    answer(request, reply) {
      if (!isNavigation(request)) return null;
      addVary(reply, 'Accept');
      return sendFile(page, request, reply.headers(headers));
    },
  };
}

/** No inline scripts or styles, no `eval`, nothing from other hosts except files of the store, and no frames. */
function createPolicy(storageOrigins: readonly string[]): string {
  const own = ["'self'", ...storageOrigins].join(' ');
  const directives = {
    'default-src': "'none'",
    'base-uri': "'none'",
    'connect-src': own,
    'font-src': "'self'",
    // A form that is submitted before its script has loaded is sent to this server only.
    'form-action': "'self'",
    'frame-ancestors': "'none'",
    'frame-src': `${own} blob:`,
    'img-src': `${own} blob: data:`,
    'manifest-src': "'self'",
    'media-src': `${own} blob:`,
    'script-src': "'self'",
    'style-src': "'self'",
    'worker-src': "'self'",
  };
  return Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ');
}

function isNavigation({ method, url, headers }: FastifyRequest): boolean {
  if (method !== 'GET' || !/\btext\/html\b/i.test(headers.accept ?? '')) return false;
  const path = decodePath(url);
  return path !== null && !NEVER_PAGES.test(path) && !path.split('/').includes('..');
}

/** Returns null for a path that is not encoded correctly. */
function decodePath(url: string): string | null {
  const [path = ''] = url.split('?', 1);
  try {
    return decodeURIComponent(path).replaceAll('\\', '/');
  } catch {
    return null;
  }
}

function sendFile(file: ConsoleFile, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const encoding = preferredEncoding(String(headers['accept-encoding'] ?? ''));
  const compressed = encoding === null ? undefined : file[encoding];
  reply.type(file.type).header('cache-control', file.isHashed ? HASHED_CACHING : PAGE_CACHING);
  if (encoding !== null && compressed) reply.header('content-encoding', encoding);
  return reply.send(compressed ?? file.bytes);
}
