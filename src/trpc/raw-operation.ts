/**
 * Raw operations send or receive files or signed bodies. Procedures cannot do this, because they handle only JSON.
 * Routers declare raw operations as data. `http/raw-operations.ts` carries them out, and the OpenAPI document and the
 * access tests read the same data.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Actor, Caller } from '../auth/identify.ts';
import { badField } from '../core/errors.ts';
import { idFromText, requestedId } from '../core/requested-id.ts';
import type { Role } from '../core/roles.ts';
import { type RequiredScope, requiredScopeOf } from '../core/scopes.ts';
import type { LiveStream } from '../live-updates/stream-message.ts';
import type { IncomingUpload } from '../media/receive-file.ts';
import type { Services, Settings } from '../services.ts';
import { requireCaller, requireRecentSignIn, requireRole, requireScope } from './access.ts';
import type { Context } from './context.ts';
import { createLiveReader, type LiveReader } from './live-reader.ts';

/** A call before its body is read. */
export type RawCall = {
  context: Context;
  /** The name of the operation, and whether it only reads. The required scope is derived from these. */
  operation: { name: string; isRead: boolean };
  /** The bearer token, or the session cookie; null without either. */
  token: string | null;
  /** The parameters of the path, as text. */
  params: Readonly<Record<string, string>>;
  /** The parameters of the query, as text; an array for a repeated one. */
  query: Readonly<Record<string, unknown>>;
  headers: IncomingHttpHeaders;
};

/** Decides who may call an operation. */
export type RawAccess<Caller> = {
  /** `required`: a session or API key. Otherwise the operation's own security schemes, for the OpenAPI document. */
  credential: 'required' | { schemes: Record<string, object> };
  /** The minimum role in the workspace of the path, if the path has one. */
  minRole?: Role;
  /** Set if no API key may call the operation, whatever its scopes. */
  needsSession?: true;
  /**
   * Finds the caller, before the body is read. Throws, in this order: 401, 400 for an invalid ID in the path, 404 for
   * an unknown workspace, and 403. Procedures check in the same order.
   */
  admit(call: RawCall): Promise<Caller>;
};

/** A multipart/form-data body with one file in the part `file`. */
type MultipartRequest = {
  kind: 'multipart';
  /** The name of the body in the OpenAPI document. */
  name: string;
  /** The media types of the file. */
  types: readonly string[];
  fileDescription: string;
  /** The name of a file, as an example. */
  exampleFile: string;
  /** The schema of the other parts. */
  fields?: z.ZodObject;
  maxFileBytes(settings: Settings): number;
};

/** A text/csv body. */
type CsvRequest = { kind: 'csv'; maxBytes: number; example: string; maxDurationMs: number };

/**
 * A body of any content type, which is read into memory. In the OpenAPI document, `schema` describes JSON, or `types`
 * are the media types of a file.
 */
type BytesRequest = { kind: 'bytes'; maxBytes: number } & (
  | { schema: z.ZodType; types?: never }
  | { types: readonly string[]; schema?: never }
);

/**
 * The next bytes of a file, which the handler reads as they arrive. The operation limits their number.
 */
type StreamRequest = { kind: 'stream'; contentType: string; example: string };

type NoRequest = { kind: 'none' };

export type RawRequest = MultipartRequest | CsvRequest | BytesRequest | StreamRequest | NoRequest;

/** The body as the handler receives it. */
export type BodyOf<Request extends RawRequest> = Request extends MultipartRequest
  ? IncomingUpload
  : Request extends CsvRequest
    ? AsyncIterable<Buffer>
    : Request extends BytesRequest
      ? Buffer
      : Request extends StreamRequest
        ? Readable
        : undefined;

export type RawResponse =
  | {
      kind: 'json';
      schema: z.ZodType;
      description: string;
      /** Headers of the response, besides those of every response, with their descriptions. */
      headers?: Readonly<Record<string, string>>;
      /** Whether the handler forbids storing the response. Such a response has no tag. */
      noStore?: true;
    }
  | { kind: 'csv' | 'jsonl'; filename: string; description: string }
  | { kind: 'calendar'; filename: string; description: string }
  /** An image that browsers display. The handler sets its type, which is one of `types`. */
  | { kind: 'image'; types: readonly string[]; description: string }
  /** One JSON document, sent as a file while it is generated. */
  | { kind: 'document'; filename: string; schema: z.ZodType; description: string }
  | { kind: 'events'; description: string }
  /** No body. The result of the handler is the headers of the response, which `headers` describes. */
  | { kind: 'empty'; status: 200 | 201 | 204; description: string; headers: Readonly<Record<string, string>> };

/** The media types of responses that are files or streams. */
export const fileTypes = {
  csv: 'text/csv',
  jsonl: 'application/x-ndjson',
  calendar: 'text/calendar',
  document: 'application/json',
  events: 'text/event-stream',
} as const;

type HandlerCall<Caller, Body, Query> = Pick<RawCall, 'headers' | 'params'> & {
  services: Services;
  caller: Caller;
  body: Body;
  query: Query;
  /** The origin that the caller used to reach the service. */
  origin: string;
  /** Sets a header of the response, also of an error response. */
  setHeader(name: string, value: string): void;
};

export type RawOperation<Caller = unknown, Request extends RawRequest = RawRequest, Query = unknown> = {
  /** A name like that of a procedure, such as `library.upload`. */
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** In the format of OpenAPI, such as `/api/workspaces/{id}/library`. */
  path: string;
  /** The parameters of the path. */
  params: z.ZodObject;
  /** The parameters of the query string, if there are any. */
  query?: z.ZodType<Query>;
  /** Request headers, for the OpenAPI document. */
  headers?: Record<string, string>;
  tags: string[];
  summary: string;
  description: string;
  access: RawAccess<Caller>;
  request: Request;
  response: RawResponse;
  /** Error statuses for the OpenAPI document, besides those that all operations of the same kind have. */
  refusals?: readonly number[];
  // Declared as a method, so that operations with different callers and bodies fit into one list. Its result depends on
  // the response: an object for `json`, a Buffer for `calendar` and `image`, a LiveStream for `events`, and a stream
  // for all others.
  handle(call: HandlerCall<Caller, BodyOf<Request>, Query>): Promise<object> | AsyncIterable<Buffer> | LiveStream;
};

/** Declares a raw operation. It infers the types of the caller, the body and the query for the handler. */
export function rawOperation<Caller, Request extends RawRequest, Query>(
  operation: RawOperation<Caller, Request, Query>,
): RawOperation<Caller, Request, Query> {
  return operation;
}

/** Whether the header Idempotency-Key has an effect. Callbacks of providers are recognized by their own
 * IDs, and a request of a resumable upload by its offset. */
export function takesIdempotencyKeys({ method, access, response }: RawOperation): boolean {
  return method !== 'GET' && access.credential === 'required' && response.kind !== 'empty';
}

/** The scope that an API key with scopes needs. Null for an operation that takes no keys. */
export function requiredScopeOfRaw({ name, method, access }: RawOperation): RequiredScope | null {
  const { credential, minRole, needsSession } = access;
  return credential === 'required' && !needsSession
    ? requiredScopeOf(name, { isRead: method === 'GET', minRole })
    : null;
}

/** The path parameters that `workspaceMember` reads. */
export const WorkspaceParams = z.object({ id: requestedId.describe('Workspace ID') });

/**
 * A member, with a role of at least `minRole`, of the workspace that the path names, by session or API key. `children`
 * are the other ids in the path.
 */
export function workspaceMember(minRole: Role, ...children: readonly string[]): RawAccess<Actor> {
  return {
    credential: 'required',
    minRole,
    async admit({ context, operation: { name, isRead }, params }) {
      const identity = await context.identify(idFromText(params.id));
      const caller = requireCaller(context, identity);
      for (const name of ['id', ...children]) requirePathId(params, name);
      const actor = requireRole(caller, identity, minRole);
      requireScope(caller, name, { isRead, minRole });
      return actor;
    },
  };
}

/** The user of a session with a recent sign-in. */
export const recentlySignedIn: RawAccess<Caller> = {
  credential: 'required',
  needsSession: true,
  async admit({ context }) {
    const { services } = context;
    const caller = requireCaller(context, await context.identify(null));
    requireRecentSignIn({ services, caller });
    return caller;
  },
};

/** Counts each admitted call against the export limit of its user. */
export function exporting<Exporter extends { userId: number }>(access: RawAccess<Exporter>): RawAccess<Exporter> {
  return {
    ...access,
    async admit(call) {
      const caller = await access.admit(call);
      await call.context.services.limits.consumeExactly('exportPerUser', String(caller.userId), call.context);
      return caller;
    },
  };
}

/** Like `workspaceMember`, for a stream: the rights of the member are rechecked while it is open. */
export function liveReader(minRole: Role): RawAccess<LiveReader> {
  const { admit, ...access } = workspaceMember(minRole);
  return {
    ...access,
    admit: async (call) => createLiveReader(call.context, call.operation.name, await admit(call)),
  };
}

/** Returns the `requestedId` in the path parameter `name`. Throws 400 if it is no integer. */
export function requirePathId(params: RawCall['params'], name: string): number {
  const id = idFromText(params[name]);
  if (id === null) throw badField(name, `${name} must be a positive 32-bit integer`);
  return id;
}
