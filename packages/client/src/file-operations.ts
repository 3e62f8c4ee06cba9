/** The operations that send or receive files, which are no tRPC procedures. */
import { untilAborted } from './abort.ts';
import type { Branding, ImportAnswer, LibraryItem, Recording } from './contract.ts';
import type { Credential } from './credential.ts';
import { ConnectionError, LynxroomError, readJson } from './errors.ts';
import type { UploadMemory } from './resumable-upload.ts';
import {
  type FileStream,
  type FormResponse,
  nameOf,
  type Progress,
  type SendRequest,
  sendForm,
  sendText,
} from './send-form.ts';

/** A larger file is sent in parts. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;

export type CallOptions = {
  /** Aborts the call, which then rejects with the signal's reason, as every procedure does. */
  signal?: AbortSignal | undefined;
};

export type WriteOptions = CallOptions & {
  /**
   * Identifies the request, so that it is carried out once if it is sent again with the same key. Default: a new random
   * key. A mutation takes it as `{ context: { idempotencyKey } }`, where null sends none. Without a credential, repeat
   * the request with the same client, because each client sends a secret of its own.
   */
  idempotencyKey?: string | undefined;
};

export type UploadOptions = WriteOptions & {
  /**
   * Identifies the file, so that an upload of more than 8 MB continues if the program starts again. Default: the name,
   * the size and the time of the last change of a File; other files only continue after a broken connection.
   */
  resumeKey?: string | undefined;
  /** Called while the request is sent; for `importContacts` only in browsers. */
  onProgress?: ((progress: Progress) => void) | undefined;
};

export type UploadInput = {
  /** Workspace ID. */
  id: number;
  /**
   * A File, or a Blob with the type `application/pdf` or `video/mp4`. In Node, use `openAsBlob` from `node:fs` for a
   * file that is read while it is sent, or a FileStream for any other stream.
   */
  file: Blob | FileStream;
  /** The original filename of a Blob. A File has its own. */
  filename?: string;
  /** Display name. Default: the original filename. */
  name?: string;
  description?: string;
};

export type UploadRecordingInput = {
  recordingId: number;
  /**
   * The `upload_token` of the started recording. Default: the client's token, which must be that of the user to whom
   * the room belongs.
   */
  uploadToken?: string;
  /** A File, a Blob with the type `video/mp4`, or in Node a FileStream. */
  file: Blob | FileStream;
};

export type SetPosterInput = {
  /** Workspace ID. */
  id: number;
  itemId: number;
  /** A JPEG or WebP of at most 40 kB (40,960 bytes), and 480 x 2,000 pixels. */
  image: Blob;
};

export type SetLogoInput = {
  /** Workspace ID. */
  id: number;
  /** A PNG, JPEG or WebP of at most 256 kB (262,144 bytes), and 2,000 x 2,000 pixels. */
  image: Blob;
};

export type SetRecordingPosterInput = {
  recordingId: number;
  /** As for `uploadRecording`. */
  uploadToken?: string;
  /** A JPEG or WebP of at most 40 kB (40,960 bytes), and 480 x 2,000 pixels. */
  image: Blob;
};

export type ImportContactsInput = {
  /** Workspace ID. */
  id: number;
  /**
   * CSV in UTF-8, or in UTF-16 with a byte order mark. The first row names the columns: `email`, and optionally `name`.
   */
  csv: string | Blob;
};

export type ExportContactsInput = {
  /** Workspace ID. */
  id: number;
  /** Whether the file begins with a byte order mark, which Excel needs. Default: false. */
  bom?: boolean;
};

export type ExportPersonInput = {
  /** Workspace ID. */
  id: number;
  /** The email address of the person. */
  email: string;
};

/** The operations that send or receive files. Each rejects with `LynxroomError` if the server answers with an error. */
export type FileOperations = {
  /**
   * Uploads a PDF or MP4 to the media library. A Blob of more than 8 MB is sent in parts, and continues after a broken
   * connection, and after a restart if it is recognized (`resumeKey`).
   */
  upload(input: UploadInput, options?: UploadOptions): Promise<LibraryItem>;
  /** Uploads the MP4 file of a recording, which makes the recording available. */
  uploadRecording(input: UploadRecordingInput, options?: UploadOptions): Promise<Recording>;
  /** Sets the picture that lists show for a library item. Calling it again replaces the picture. */
  setPoster(input: SetPosterInput, options?: CallOptions): Promise<LibraryItem>;
  /** Sets the picture that lists show for a recording. Calling it again replaces the picture. */
  setRecordingPoster(input: SetRecordingPosterInput, options?: CallOptions): Promise<Recording>;
  /** Sets the logo that the pages of guests show. Calling it again replaces the logo. */
  setLogo(input: SetLogoInput, options?: CallOptions): Promise<Branding>;
  /** Imports contacts from CSV. Resolves with the number of created, updated and skipped rows. */
  importContacts(input: ImportContactsInput, options?: UploadOptions): Promise<ImportAnswer>;
  /** Exports all contacts of a workspace as CSV. */
  exportContacts(input: ExportContactsInput, options?: CallOptions): Promise<Blob>;
  /** Exports, as JSON, what belongs to the session's account. It needs a recent sign-in. */
  exportAccount(options?: CallOptions): Promise<Blob>;
  /** Exports what a workspace holds about an address, as JSON. */
  exportPerson(input: ExportPersonInput, options?: CallOptions): Promise<Blob>;
};

/** What tells a File apart from others, also when the user chooses it again. */
function identityOf(file: Blob): string | null {
  const changedAt = 'lastModified' in file ? file.lastModified : undefined;
  return changedAt === undefined ? null : JSON.stringify([nameOf(file), file.size, changedAt]);
}

type Connection = {
  baseUrl: string;
  credentials: NonNullable<RequestInit['credentials']>;
  fetch: typeof globalThis.fetch;
  /** `fetch`, or one that repeats requests. Uploads in parts continue by themselves. */
  send: typeof globalThis.fetch;
  call: Credential['call'];
  /** The headers with the idempotency key, or with a new one. */
  identify(options: WriteOptions): Record<string, string>;
  uploads: UploadMemory;
};

/** The assertions below name the documented type of each response; the client does not validate responses. */
export function createFileOperations(connection: Connection): FileOperations {
  const { baseUrl, call, identify, credentials, fetch, send: sendRequest, uploads } = connection;
  const send = <Result>(
    path: string,
    { signal }: CallOptions,
    read: (response: Response) => Promise<Result>,
    { token, ...init }: RequestInit & { token?: string | undefined } = {},
  ): Promise<Result> =>
    call(
      async (headers) => {
        const request = sendRequest(`${baseUrl}${path}`, { ...init, headers, credentials, ...(signal && { signal }) });
        const response = await request.catch((cause: unknown) => {
          throw new ConnectionError('before it answered', { cause });
        });
        if (response.ok) return read(response);
        throw LynxroomError.ofResponse(response.status, await readJson(response));
      },
      { token, signal },
    );

  const write = (
    path: string,
    { onProgress, signal, ...options }: UploadOptions,
    sendBody: (request: SendRequest) => Promise<FormResponse>,
    settings: { token?: string | undefined; isRepeatable?: boolean } = {},
  ): Promise<unknown> => {
    const key = identify(options);
    return call(
      async (credential) => {
        const headers = { ...credential, ...key };
        const { status, body } = await sendBody({
          url: `${baseUrl}${path}`,
          headers,
          credentials,
          fetch: sendRequest,
          onProgress,
          signal,
        });
        if (status >= 200 && status <= 299) return body;
        throw LynxroomError.ofResponse(status, body);
      },
      { ...settings, signal },
    );
  };

  /** Returns undefined if the file must be sent in one request. */
  const uploadInParts = async (
    { id, file, filename, name, description }: UploadInput,
    { onProgress, signal, resumeKey }: UploadOptions,
  ): Promise<LibraryItem | undefined> => {
    if (!(file instanceof Blob) || file.size <= MAX_WHOLE_BYTES) return undefined;
    // Few callers need it, and pages are smaller without it.
    const { uploadResumably } = await import('./resumable-upload.ts');
    const endpoint = `${baseUrl}/api/workspaces/${id}/library/uploads`;
    const identity = resumeKey ?? identityOf(file);
    const metadata = { filename: filename ?? nameOf(file), filetype: file.type, name, description };
    const key = identity === null ? null : `lynxroom upload ${endpoint} ${identity}`;
    const result = await uploadResumably({
      endpoint,
      file,
      metadata,
      key,
      memory: uploads,
      call,
      credentials,
      fetch,
      onProgress,
      signal,
    });
    return result === null ? undefined : send(result, { signal }, readItem);
  };

  return {
    async upload(input, options = {}) {
      const stored = await untilAborted(options.signal, () => uploadInParts(input, options));
      if (stored !== undefined) return stored;
      const { id, file, filename, name, description } = input;
      const form = { fields: { name, description }, file, filename };
      const body = await write(`/api/workspaces/${id}/library`, options, (request) => sendForm(request, form), {
        isRepeatable: file instanceof Blob,
      });
      return (body as { item: LibraryItem }).item;
    },

    async uploadRecording({ recordingId, uploadToken, file }, options = {}) {
      const form = { fields: {}, file, filename: undefined };
      const body = await write(`/api/recordings/${recordingId}/file`, options, (request) => sendForm(request, form), {
        token: uploadToken,
        isRepeatable: file instanceof Blob,
      });
      return (body as { recording: Recording }).recording;
    },

    setPoster: ({ id, itemId, image }, options = {}) =>
      send(`/api/workspaces/${id}/library/${itemId}/poster`, options, readItem, { method: 'PUT', body: image }),

    setRecordingPoster: ({ recordingId, uploadToken, image }, options = {}) =>
      send(
        `/api/recordings/${recordingId}/poster`,
        options,
        async (response) => ((await readJson(response)) as { recording: Recording }).recording,
        { method: 'PUT', body: image, token: uploadToken },
      ),

    setLogo: ({ id, image }, options = {}) =>
      send(
        `/api/workspaces/${id}/branding/logo`,
        options,
        async (response) => ((await readJson(response)) as { branding: Branding }).branding,
        { method: 'PUT', body: image },
      ),

    async importContacts({ id, csv }, options = {}) {
      const path = `/api/workspaces/${id}/contacts/import`;
      return (await write(path, options, (request) => sendText(request, csv, 'text/csv'))) as ImportAnswer;
    },

    exportContacts: ({ id, bom = false }, options = {}) =>
      send(`/api/workspaces/${id}/contacts.csv${bom ? '?bom=true' : ''}`, options, readBlob),

    exportAccount: (options = {}) => send('/api/auth/export', options, readBlob),

    exportPerson: ({ id, email }, options = {}) =>
      send(`/api/workspaces/${id}/people/export?email=${encodeURIComponent(email)}`, options, readBlob),
  };
}

async function readItem(response: Response): Promise<LibraryItem> {
  return ((await readJson(response)) as { item: LibraryItem }).item;
}

function readBlob(response: Response): Promise<Blob> {
  return response.blob().catch((cause: unknown) => {
    throw new ConnectionError('within its answer', { cause });
  });
}
