/**
 * What a TypeScript frontend imports: a typed client of every operation, and `upload`, which posts the file to its REST
 * path. It runs in browsers and in Node, and needs nothing of the server at run time.
 */
import { createTRPCClient, httpBatchLink, type TRPCClient, TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { AppRouter } from './routers/index.ts';
import type { LibraryItem } from './routers/library/schemas.ts';

export type { AppRouter, LibraryItem };
export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

/** Whether something that was thrown is a refusal of the server; its `data` carries `code`, `issues` and `request_id`. */
export const isApiError = (error: unknown): error is TRPCClientError<AppRouter> => error instanceof TRPCClientError;

/** Why an upload was refused: the same body that every REST refusal has. */
export class UploadError extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string;
  readonly issues: readonly { path: string; message: string }[];

  constructor(status: number, problem: Partial<UploadProblem>) {
    super(problem.message ?? `The upload failed with status ${status}`);
    this.name = 'UploadError';
    this.status = status;
    this.code = problem.code ?? 'UNKNOWN';
    this.requestId = problem.request_id ?? '';
    this.issues = problem.issues ?? [];
  }
}

type UploadProblem = {
  message: string;
  code: string;
  request_id: string;
  issues: { path: string; message: string }[];
};

export type ClientOptions = {
  /** Where the service is, such as `https://api.example.com`. */
  url: string;
  /** A session token, or a function that gives the current one; without it, a browser sends its session cookie. */
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
    if (!response.ok) throw new UploadError(response.status, body as Partial<UploadProblem>);
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
