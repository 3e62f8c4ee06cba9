/**
 * What a TypeScript frontend imports: a typed client of every operation, and `upload`, which posts the file to its REST
 * path. It runs in browsers and in Node, and needs nothing of the server at run time.
 */
import { createTRPCClient, httpBatchLink, type TRPCClient, TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { WebhookBody } from './events/catalogue.ts';
import type { AppRouter } from './routers/index.ts';
import type { LibraryItem } from './routers/library/schemas.ts';

export type { AppRouter, LibraryItem, WebhookBody };
export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

/** Why the server refused a call: the same for every operation, the upload included. */
export type Refusal = {
  /** HTTP status. */
  status: number;
  /** For programs: `NOT_FOUND`, `CONFLICT`, ... */
  code: string;
  /** For people. */
  message: string;
  /** Names the call in the log of the server. */
  requestId: string;
  /** Each wrong field. */
  issues: readonly { path: string; message: string }[];
};

/** What `upload` rejects with when the server refuses. `refusalOf` reads it. */
export class UploadError extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.name = 'UploadError';
    this.refusal = refusal;
  }
}

/** The body of a refusal, as every door has it. */
type Problem = Partial<{ message: string; code: string; request_id: string; issues: Refusal['issues'] }>;

const toRefusal = (status: number, { message, code, request_id, issues }: Problem): Refusal => ({
  status,
  code: code ?? 'UNKNOWN',
  message: message ?? `The call failed with status ${status}`,
  requestId: request_id ?? '',
  issues: issues ?? [],
});

/** Why the server refused, from whatever a call threw; null when it was not the server (no connection, an abort). */
export const refusalOf = (error: unknown): Refusal | null => {
  if (error instanceof UploadError) return error.refusal;
  if (!(error instanceof TRPCClientError)) return null;
  const data: (Problem & { httpStatus: number }) | null | undefined = error.data;
  return data ? toRefusal(data.httpStatus, data) : null;
};

export type ClientOptions = {
  /** Where the service is, such as `https://api.example.com`. */
  url: string;
  /**
   * A session token or API key, or a function that gives the current one. Without it a browser sends its session cookie,
   * where the page comes from the service's own origin.
   */
  token?: string | (() => string | undefined);
  /** Another `fetch`, for tests and old runtimes. */
  fetch?: typeof globalThis.fetch;
};

export type UploadInput = {
  /** Workspace ID. */
  id: number;
  /** A File, or a Blob with a type of `application/pdf` or `video/mp4`. */
  file: Blob;
  /** The original filename, for a Blob; a File has its own. */
  filename?: string;
  /** Display name; the original filename where it is left out. */
  name?: string;
  description?: string;
  signal?: AbortSignal;
};

export type Client = TRPCClient<AppRouter> & {
  /** Uploads a PDF or MP4 to the media library. Rejects with UploadError when the server refuses. */
  upload(input: UploadInput): Promise<LibraryItem>;
};

// tRPC's type of fetch, which differs from the platform's in how it writes an absent signal.
type FetchLike = NonNullable<Parameters<typeof httpBatchLink<AppRouter>>[0]['fetch']>;

/** A client of one service, for one caller. */
export const createClient = ({ url, token, fetch = globalThis.fetch }: ClientOptions): Client => {
  const base = url.replace(/\/+$/, '');
  const headers = (): Record<string, string> => {
    const current = typeof token === 'function' ? token() : token;
    return current === undefined ? {} : { authorization: `Bearer ${current}` };
  };

  const upload = async ({ id, file, filename, name, description, signal }: UploadInput): Promise<LibraryItem> => {
    const form = new FormData();
    if (name !== undefined) form.append('name', name);
    if (description !== undefined) form.append('description', description);
    if (filename === undefined) form.append('file', file);
    else form.append('file', file, filename);
    const response = await fetch(`${base}/api/workspaces/${id}/library`, {
      method: 'POST',
      headers: headers(),
      body: form,
      credentials: 'same-origin',
      ...(signal && { signal }),
    });
    const body: unknown = await response.json().catch(() => ({}));
    if (!response.ok) throw new UploadError(toRefusal(response.status, body as Problem));
    return (body as { item: LibraryItem }).item;
  };

  const trpc = createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: `${base}/trpc`, headers, fetch: fetch as FetchLike })],
  });
  // The tRPC client is a proxy that takes any name for a router: `upload` is answered before it is asked.
  return new Proxy(trpc, {
    get: (target, name, receiver) => (name === 'upload' ? upload : Reflect.get(target, name, receiver)),
  }) as Client;
};
