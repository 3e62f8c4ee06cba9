/**
 * What a TypeScript frontend imports: a typed client of every operation. Those whose bodies stream (`upload`,
 * `uploadRecording`, `importContacts`, `exportContacts`) go by their REST paths. It runs in browsers and in Node, and needs
 * nothing of the server at run time.
 */
import { createTRPCClient, httpBatchLink, type TRPCClient, TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { WebhookBody } from './events/catalogue.ts';
import type { ImportAnswer } from './features/contacts/schemas.ts';
import type { LibraryItem } from './features/library/schemas.ts';
import type { Recording } from './features/recordings/schemas.ts';
import type { AppRouter } from './routers/index.ts';

export type { AppRouter, ImportAnswer, LibraryItem, Recording, WebhookBody };
export type Inputs = inferRouterInputs<AppRouter>;
export type Outputs = inferRouterOutputs<AppRouter>;

/** Why the server refused a call: the same for every operation. */
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

/** What the operations whose bodies stream reject with when the server refuses. `refusalOf` reads it. */
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

export type UploadRecordingInput = {
  recordingId: number;
  /** What starting the recording answered; without it the upload is by the client's own token, of the room's user. */
  uploadToken?: string;
  /** A File, or a Blob with the type `video/mp4`. */
  file: Blob;
  signal?: AbortSignal;
};

export type ImportContactsInput = {
  /** Workspace ID. */
  id: number;
  /** UTF-8; the first row names `email`, and optionally `name`. */
  csv: string | Blob;
  signal?: AbortSignal;
};

export type ExportContactsInput = {
  /** Workspace ID. */
  id: number;
  signal?: AbortSignal;
};

/** The operations whose bodies stream. Each rejects with UploadError when the server refuses. */
type StreamedOperations = {
  /** Uploads a PDF or MP4 to the media library. */
  upload(input: UploadInput): Promise<LibraryItem>;
  /** Uploads the file of a recording, an MP4; it is available then. */
  uploadRecording(input: UploadRecordingInput): Promise<Recording>;
  /** Imports contacts from CSV, and answers what became of the rows. */
  importContacts(input: ImportContactsInput): Promise<ImportAnswer>;
  /** All contacts as CSV. */
  exportContacts(input: ExportContactsInput): Promise<Blob>;
};

export type Client = TRPCClient<AppRouter> & StreamedOperations;

// tRPC's type of fetch, which differs from the platform's in how it writes an absent signal.
type FetchLike = NonNullable<Parameters<typeof httpBatchLink<AppRouter>>[0]['fetch']>;

type CallOptions = {
  /** Instead of the client's. */
  token?: string | undefined;
  /** Of the body, where that does not say it. */
  type?: string;
  signal: AbortSignal | undefined;
};

/** Why the server refused, from whatever a call threw; null when it was not the server (no connection, an abort). */
export function refusalOf(error: unknown): Refusal | null {
  if (error instanceof UploadError) return error.refusal;
  if (!(error instanceof TRPCClientError)) return null;
  const data: (Problem & { httpStatus: number }) | null | undefined = error.data;
  return data ? toRefusal(data.httpStatus, data) : null;
}

function toRefusal(status: number, { message, code, request_id, issues }: Problem): Refusal {
  return {
    status,
    code: code ?? 'UNKNOWN',
    message: message ?? `The call failed with status ${status}`,
    requestId: request_id ?? '',
    issues: issues ?? [],
  };
}

/** A client of one service, for one caller. */
export function createClient({ url, token, fetch = globalThis.fetch }: ClientOptions): Client {
  const base = url.replace(/\/+$/, '');
  const headers = (own?: string): Record<string, string> => {
    const current = own ?? (typeof token === 'function' ? token() : token);
    return current === undefined ? {} : { authorization: `Bearer ${current}` };
  };

  /** An answer that is no refusal. */
  const call = async (
    path: string,
    { token: own, signal, type, ...init }: Pick<RequestInit, 'method' | 'body'> & CallOptions,
  ): Promise<Response> => {
    // Node's fetch leaves an unhandled rejection behind where it is given a form and a signal that is aborted already.
    signal?.throwIfAborted();
    const response = await fetch(`${base}${path}`, {
      ...init,
      headers: { ...headers(own), ...(type && { 'content-type': type }) },
      credentials: 'same-origin',
      ...(signal && { signal }),
    });
    if (response.ok) return response;
    const problem: unknown = await response.json().catch(() => ({}));
    throw new UploadError(toRefusal(response.status, problem as Problem));
  };

  const streamed: StreamedOperations = {
    async upload({ id, file, filename, name, description, signal }) {
      const body = new FormData();
      if (name !== undefined) body.append('name', name);
      if (description !== undefined) body.append('description', description);
      if (filename === undefined) body.append('file', file);
      else body.append('file', file, filename);
      const response = await call(`/api/workspaces/${id}/library`, { method: 'POST', body, signal });
      return ((await response.json()) as { item: LibraryItem }).item;
    },

    async uploadRecording({ recordingId, uploadToken, file, signal }) {
      const body = new FormData();
      body.append('file', file);
      const path = `/api/recordings/${recordingId}/file`;
      const response = await call(path, { method: 'POST', body, token: uploadToken, signal });
      return ((await response.json()) as { recording: Recording }).recording;
    },

    async importContacts({ id, csv, signal }) {
      const path = `/api/workspaces/${id}/contacts/import`;
      const response = await call(path, { method: 'POST', body: csv, type: 'text/csv', signal });
      return (await response.json()) as ImportAnswer;
    },

    async exportContacts({ id, signal }) {
      const response = await call(`/api/workspaces/${id}/contacts.csv`, { method: 'GET', signal });
      return response.blob();
    },
  };

  const trpc = createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: `${base}/trpc`, headers: () => headers(), fetch: fetch as FetchLike })],
  });
  // The tRPC client is a proxy that takes any name for a router: ours are answered before it is asked.
  return new Proxy(trpc, {
    get: (target, name, receiver) => Reflect.get(Object.hasOwn(streamed, name) ? streamed : target, name, receiver),
  }) as Client;
}
