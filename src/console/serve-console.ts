/**
 * Serves the console, the pages of `web/src`. They share one HTML page, whose script renders the page for the path. The
 * server sends this HTML page for every path without a route, but only if a browser navigates to that path.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../core/errors.ts';
import { escapeHtml } from '../core/escape-html.ts';
import { preferredEncoding } from '../http/compression.ts';
import { addVary, pageHeaders } from '../http/response-headers.ts';
import type { Console, ConsoleFile } from './read-console.ts';

/** The console has no pages below these paths, so a program that misspells a path never gets HTML. */
const NEVER_PAGES =
  /^\/(?:api|trpc|mcp|oauth|\.well-known|files|docs|openapi(?:-3\.0)?\.json|llms\.txt|health|ready|metrics|assets|pages|dev)(?:\/|$)/i;

/** What a room uses. Documents that it could embed get none of it. */
const ROOM_FEATURES = ['camera', 'microphone', 'display-capture'];
const ROOM_PERMISSIONS = permit(['self']);

const PAGE_CACHING = 'no-cache';
const HASHED_CACHING = 'public, max-age=31536000, immutable';

/** What a page says of itself where somebody pastes its link, as text. Pictures need the origin of the service. */
export type PagePreview = { title: string; description: string; origin: string } & PageConnections;

/** The origin of the server that carries the media of a room, to which its page connects; null if there is none. */
export type PageConnections = { mediaOrigin: string | null };

/** Reads the preview for a request of its route. Never rejects. */
export type ReadPreview = (request: FastifyRequest, reply: FastifyReply) => Promise<PagePreview>;

/** The origins that may show a document in a frame, and what it connects to. */
export type FrameAccess = { origins: readonly string[] } & PageConnections;

/** Reads what the document of a route is allowed. Never rejects. */
export type ReadFrameAccess = (request: FastifyRequest, reply: FastifyReply) => Promise<FrameAccess>;

/** Documents to which people share links, and documents for the frames of other origins, by their routes. */
export type ConsolePages = {
  previews?: Readonly<Record<string, ReadPreview>>;
  frames?: Readonly<Record<string, ReadFrameAccess>>;
};

export type ConsoleServer = {
  /**
   * Sends the HTML page if a browser navigates to a path that can be a page of the console. Returns null for all other
   * requests.
   */
  answer(request: FastifyRequest, reply: FastifyReply): FastifyReply | null;
};

/**
 * Adds a route for each file of the console. `storageOrigins` are the origins that serve downloads. The console may
 * load media from them. `previews` are the routes of the pages to which people share links: programs that show what a
 * link is about, such as chats, run no scripts and often do not ask for HTML, so they get it unless they prefer JSON.
 */
export function serveConsole(
  app: FastifyInstance,
  { page, files }: Console,
  storageOrigins: readonly string[],
  { previews = {}, frames = {} }: ConsolePages = {},
): ConsoleServer {
  const headers = {
    ...pageHeaders,
    'content-security-policy': createPolicy(storageOrigins),
    'x-frame-options': 'DENY',
  };
  const headersOfRooms = { ...headers, 'permissions-policy': ROOM_PERMISSIONS };
  for (const file of files) app.get(file.path, (request, reply) => sendFile(file, request, reply.headers(headers)));
  const html = page.bytes.toString();
  for (const [route, readPreview] of Object.entries(previews)) {
    app.get(route, async (request, reply) => {
      if (prefersJson(request)) throw new AppError('NOT_FOUND', 'Not found');
      addVary(reply, 'Accept');
      const preview = await readPreview(request, reply);
      const described = describePage(html, preview);
      reply.headers(isRoom(request.url) ? headersOfRooms : headers).header('cache-control', PAGE_CACHING);
      if (preview.mediaOrigin !== null)
        reply.header('content-security-policy', createPolicy(storageOrigins, { mediaOrigin: preview.mediaOrigin }));
      return reply.type(page.type).send(described);
    });
  }
  // Such a document belongs to no window of this origin, so it has neither of the headers about windows.
  const { 'x-frame-options': _options, 'cross-origin-opener-policy': _opener, ...headersOfFrames } = headers;
  for (const [route, readAccess] of Object.entries(frames)) {
    app.get(route, async (request, reply) => {
      if (prefersJson(request)) throw new AppError('NOT_FOUND', 'Not found');
      addVary(reply, 'Accept');
      const { origins, mediaOrigin } = await readAccess(request, reply);
      return reply
        .headers(headersOfFrames)
        .header('content-security-policy', createPolicy(storageOrigins, { frameOrigins: origins, mediaOrigin }))
        .header('permissions-policy', permit(['self', ...origins.map((origin) => JSON.stringify(origin))]))
        .header('cache-control', PAGE_CACHING)
        .type(page.type)
        .send(nameOrigins(html, origins));
    });
  }
  return {
    answer(request, reply) {
      if (!isNavigation(request)) return null;
      addVary(reply, 'Accept');
      return sendFile(page, request, reply.headers(isRoom(request.url) ? headersOfRooms : headers));
    },
  };
}

function permit(origins: readonly string[]): string {
  return ROOM_FEATURES.map((feature) => `${feature}=(${origins.join(' ')})`).join(', ');
}

/**
 * Forbids inline scripts and styles, `eval`, resources from other hosts except files in the object store, and embedding
 * the document in a frame of other origins than `frameOrigins`. `mediaOrigin` is the server that carries the media of a
 * room: its signals go by `wss`, and what LiveKit's client asks before and after by `https`.
 */
function createPolicy(
  storageOrigins: readonly string[],
  { frameOrigins = [], mediaOrigin = null }: { frameOrigins?: readonly string[]; mediaOrigin?: string | null } = {},
): string {
  const media = mediaOrigin === null ? [] : [mediaOrigin, mediaOrigin.replace(/^http/, 'ws')];
  const own = ["'self'", ...storageOrigins].join(' ');
  const directives = {
    'default-src': "'none'",
    'base-uri': "'none'",
    'connect-src': [own, ...media].join(' '),
    'font-src': "'self'",
    // If a form is submitted before its script has loaded, the browser may send it only to this server.
    'form-action': "'self'",
    'frame-ancestors': frameOrigins.join(' ') || "'none'",
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
  // Whether a page is there, HEAD says as GET does. Node sends no body in response to it.
  if ((method !== 'GET' && method !== 'HEAD') || !/\btext\/html\b/i.test(headers.accept ?? '')) return false;
  const path = decodePath(url);
  return path !== null && !NEVER_PAGES.test(path) && !path.split('/').includes('..');
}

function prefersJson({ headers: { accept = '' } }: FastifyRequest): boolean {
  return /\bjson\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}

/** Returns the page with the title and the description of a preview. */
function describePage(html: string, { title, description, origin }: PagePreview): string {
  const [escapedTitle, escapedDescription] = [escapeHtml(title), escapeHtml(description)];
  const head = `<title>${escapedTitle}</title>
    <meta name="description" content="${escapedDescription}" />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="Lynxroom" />
    <meta property="og:title" content="${escapedTitle}" />
    <meta property="og:description" content="${escapedDescription}" />
    <meta property="og:image" content="${escapeHtml(origin)}/icon-512.png" />`;
  // A function, because a replacement text may not contain "$".
  return html.replace(/<title>[^<]*<\/title>/, () => head);
}

/** Returns the page with the origins with whose windows its script may talk. */
function nameOrigins(html: string, origins: readonly string[]): string {
  const meta = `<meta name="lynxroom:embed-origins" content="${escapeHtml(origins.join(' '))}" />`;
  return html.replace('<title>', () => `${meta}\n    <title>`);
}

/** The headers belong to the document, so the console enters and leaves a room with a load of the document. */
function isRoom(url: string): boolean {
  return /^\/room\//i.test(decodePath(url) ?? '');
}

/** Returns null if the path is not encoded correctly. */
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
