/** What an operation knows about a call, whichever transport it came by. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { OpenApiMeta } from 'trpc-to-openapi';
import type { Identity } from '../auth/identify.ts';
import type { AppError } from '../core/errors.ts';
import type { Services } from '../services.ts';

/** The id of the HTTP request in progress. tRPC refuses some calls before they have a context. */
export const currentRequestId = new AsyncLocalStorage<string>();

/** Transports build it from an HTTP request. Tests may build it from nothing. */
export type Context = {
  services: Services;
  requestId: string;
  /** The caller's network address. */
  address: string;
  /** Whether the call came without a forwarding header, so that `address` is not a proxy's. */
  isDirect: boolean;
  /** Where the caller reached the service: scheme, host and port. */
  origin: string;
  /** Finds the caller, and their role in `workspaceId`. Throws 403 for a cross-origin write with a session cookie. */
  identify(workspaceId: number | null): Promise<Identity>;
  /** Whether the call has an Authorization header, valid or not. */
  hasAuthorization: boolean;
  /** Why the body could not be parsed. It is thrown after the caller is known to be allowed to make the call. */
  unreadableBody: AppError | null;
  setHeader(name: string, value: string): void;
  setSessionCookie(session: { token: string; expiresAt: Date } | null): void;
};

/** What a procedure declares besides its input and output. */
export type Meta = OpenApiMeta & {
  /** The REST status of success; 200 where it is absent. */
  successStatus?: 201;
  /** For a public operation that also accepts a credential. */
  credential?: 'optional';
  /** Statuses that this operation refuses with, besides those of its kind. */
  refusals?: readonly (401 | 403 | 404 | 409)[];
};
