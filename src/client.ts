/**
 * The typed client of the service, for browsers and Node. Every operation is a tRPC procedure of `Client`, except those
 * that send or receive files: `upload`, `uploadRecording`, `importContacts` and `exportContacts`.
 */
import { createTRPCClient, httpBatchLink, type TRPCClient, TRPCClientError } from '@trpc/client';
import type { inferRouterInputs, inferRouterOutputs } from '@trpc/server';
import type { WebhookBody } from './events/catalogue.ts';
import type { ImportAnswer } from './features/contacts/schemas.ts';
import type { LibraryItem } from './features/library/schemas.ts';
import type { Recording } from './features/recordings/schemas.ts';
import type { AppRouter } from './routers/index.ts';

export type { AppRouter, ImportAnswer, LibraryItem, Recording, WebhookBody };
/** The input of every procedure, such as `Inputs['rooms']['create']`. */
export type Inputs = inferRouterInputs<AppRouter>;
/** The output of every procedure, such as `Outputs['rooms']['create']`. */
export type Outputs = inferRouterOutputs<AppRouter>;

/** An invalid field of the input. */
export type ApiIssue = {
  /** The field, with dots between levels, such as `hours.0.from`. Empty for the body as a whole. */
  path: string;
  message: string;
};

/**
 * An error response of the server. File operations reject with it. Procedures reject with a `TRPCClientError`, which
 * `toApiError` converts.
 */
export class ApiError extends Error {
  /** HTTP status. */
  readonly status: number;
  /** Machine-readable, such as `NOT_FOUND` or `CONFLICT`; `UNKNOWN` if the response was not sent by the service. */
  readonly code: string;
  /** Identifies the request in the server's log. Empty if the response was not sent by the service. */
  readonly requestId: string;
  /** The invalid fields of the input; empty for other errors. */
  readonly issues: readonly ApiIssue[];

  constructor(status: number, { message, code, request_id, issues }: ErrorBody) {
    super(message ?? `The request failed with status ${status}`);
    this.name = 'ApiError';
    this.status = status;
    this.code = code ?? 'UNKNOWN';
    this.requestId = request_id ?? '';
    this.issues = issues ?? [];
  }
}

/** The body of an error response. A proxy may answer with a different body, so every field is optional. */
type ErrorBody = Partial<{ message: string; code: string; request_id: string; issues: ApiIssue[] }>;

export type ClientOptions = {
  /** Base URL of the service, such as `https://api.example.com`. */
  url: string;
  /**
   * A session token or an API key, or a function that returns the current one. Without a token, a browser sends the
   * session cookie if the page has the same origin as the service.
   */
  token?: string | (() => string | undefined);
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch;
};

export type UploadInput = {
  /** Workspace ID. */
  id: number;
  /** A File, or a Blob with the type `application/pdf` or `video/mp4`. */
  file: Blob;
  /** The original filename of a Blob. A File has its own. */
  filename?: string;
  /** Display name. Default: the original filename. */
  name?: string;
  description?: string;
  signal?: AbortSignal;
};

export type UploadRecordingInput = {
  recordingId: number;
  /**
   * The `upload_token` of the started recording. Default: the client's token, which must be that of the room's user.
   */
  uploadToken?: string;
  /** A File, or a Blob with the type `video/mp4`. */
  file: Blob;
  signal?: AbortSignal;
};

export type ImportContactsInput = {
  /** Workspace ID. */
  id: number;
  /** CSV in UTF-8. The first row names the columns: `email`, and optionally `name`. */
  csv: string | Blob;
  signal?: AbortSignal;
};

export type ExportContactsInput = {
  /** Workspace ID. */
  id: number;
  signal?: AbortSignal;
};

/** The operations that send or receive files. Each rejects with `ApiError` if the server answers with an error. */
export type FileOperations = {
  /** Uploads a PDF or MP4 to the media library. */
  upload(input: UploadInput): Promise<LibraryItem>;
  /** Uploads the MP4 file of a recording, which makes the recording available. */
  uploadRecording(input: UploadRecordingInput): Promise<Recording>;
  /** Imports contacts from CSV. Resolves with the number of created, updated and skipped rows. */
  importContacts(input: ImportContactsInput): Promise<ImportAnswer>;
  /** Exports all contacts of a workspace as CSV. */
  exportContacts(input: ExportContactsInput): Promise<Blob>;
};

export type Client = TRPCClient<AppRouter> & FileOperations;

// The `fetch` type of tRPC differs from the platform's in how it declares an absent signal.
type TrpcFetch = NonNullable<Parameters<typeof httpBatchLink<AppRouter>>[0]['fetch']>;

type RequestOptions = {
  method: string;
  body?: string | Blob | FormData;
  /** Replaces the client's token. */
  token?: string | undefined;
  /** Content type, for a body that does not imply it. */
  type?: string;
  signal: AbortSignal | undefined;
};

/** Sends a request to a path of the service. Rejects with `ApiError` for an error response. */
type SendRequest = (path: string, options: RequestOptions) => Promise<Response>;

/** Creates a client of the service at `url`, which sends `token` with every request. */
export function createClient({ url, token, fetch = globalThis.fetch }: ClientOptions): Client {
  const baseUrl = url.replace(/\/+$/, '');
  const authorize = (ownToken?: string): Record<string, string> => {
    const current = ownToken ?? (typeof token === 'function' ? token() : token);
    return current === undefined ? {} : { authorization: `Bearer ${current}` };
  };

  const send: SendRequest = async (path, { token: ownToken, signal, type, ...init }) => {
    // Node's fetch causes an unhandled rejection if it is called with a form and an aborted signal.
    signal?.throwIfAborted();
    const response = await fetch(`${baseUrl}${path}`, {
      ...init,
      headers: { ...authorize(ownToken), ...(type && { 'content-type': type }) },
      credentials: 'same-origin',
      ...(signal && { signal }),
    });
    if (response.ok) return response;
    const body: unknown = await response.json().catch(() => null);
    // Every field of an ErrorBody is optional, so any JSON value except null can be treated as one.
    throw new ApiError(response.status, (body ?? {}) as ErrorBody);
  };

  const trpc = createTRPCClient<AppRouter>({
    // The difference between the types of `fetch` does not matter at run time.
    links: [httpBatchLink({ url: `${baseUrl}/trpc`, headers: () => authorize(), fetch: fetch as TrpcFetch })],
  });
  const files = createFileOperations(send);
  // The tRPC client is a proxy that treats any property as a router, so the file operations are looked up first. The
  // assertion adds them to the type, which is that of the target.
  return new Proxy(trpc, {
    get: (target, name, receiver) => Reflect.get(Object.hasOwn(files, name) ? files : target, name, receiver),
  }) as Client;
}

/** The assertions below name the documented type of each response; the client does not validate responses. */
function createFileOperations(send: SendRequest): FileOperations {
  return {
    async upload({ id, file, filename, name, description, signal }) {
      const body = new FormData();
      if (name !== undefined) body.append('name', name);
      if (description !== undefined) body.append('description', description);
      if (filename === undefined) body.append('file', file);
      else body.append('file', file, filename);
      const response = await send(`/api/workspaces/${id}/library`, { method: 'POST', body, signal });
      return ((await response.json()) as { item: LibraryItem }).item;
    },

    async uploadRecording({ recordingId, uploadToken, file, signal }) {
      const body = new FormData();
      body.append('file', file);
      const path = `/api/recordings/${recordingId}/file`;
      const response = await send(path, { method: 'POST', body, token: uploadToken, signal });
      return ((await response.json()) as { recording: Recording }).recording;
    },

    async importContacts({ id, csv, signal }) {
      const path = `/api/workspaces/${id}/contacts/import`;
      const response = await send(path, { method: 'POST', body: csv, type: 'text/csv', signal });
      return (await response.json()) as ImportAnswer;
    },

    async exportContacts({ id, signal }) {
      const response = await send(`/api/workspaces/${id}/contacts.csv`, { method: 'GET', signal });
      return response.blob();
    },
  };
}

/**
 * Converts the error of any operation to an `ApiError`. Returns null if the error is not a response of the server, for
 * example after a failed connection or an aborted request.
 */
export function toApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (!(error instanceof TRPCClientError)) return null;
  const data: (ErrorBody & { httpStatus: number }) | null | undefined = error.data;
  return data ? new ApiError(data.httpStatus, data) : null;
}
