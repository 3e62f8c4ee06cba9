/** The context of a call. It is the same for every transport. */
import type { OpenApiMeta } from 'trpc-to-openapi';
import type { Identity } from '../auth/identify.ts';
import type { NetworkLimitName } from '../auth/rate-limits.ts';
import type { RequestBounds } from '../core/call-bounds.ts';
import type { AppError } from '../core/errors.ts';
import type { Role } from '../core/roles.ts';
import type { ScopeLevel } from '../core/scopes.ts';
import type { Language } from '../languages/languages.ts';
import type { Services } from '../services.ts';
import type { Deprecation } from './deprecation.ts';

/** Transports create it from an HTTP request. Tests may create it directly. */
export type Context = {
  services: Services;
  requestId: string;
  /** Shared by the calls of the request. */
  bounds: RequestBounds;
  /** The caller's network address. */
  address: string;
  /** The beginning of the User-Agent header, or null if there is none. */
  userAgent: string | null;
  /** The first language of the Accept-Language header in which there are texts for guests; null if there is none. */
  language: Language | null;
  /**
   * False if a header or the host name shows that a proxy forwarded the call. If true, `address` is that of the caller.
   */
  isDirect: boolean;
  /** The origin that the caller used to reach the service: scheme, host and port. */
  origin: string;
  /** Finds the caller, and their role in `workspaceId`. Throws 403 for a cross-origin write with a session cookie. */
  identify(workspaceId: number | null): Promise<Identity>;
  /** The token of a participant (`lnp_...`) in the Authorization header, or null if there is none. */
  participantToken: string | null;
  /** Finds the caller again, during a long call such as a stream. Does not count as a use of the credential. */
  identifyAgain(workspaceId: number): Promise<Identity>;
  /** Whether the call has an Authorization header, valid or not. */
  hasAuthorization: boolean;
  /** The Idempotency-Key header, or null if there is none. */
  idempotencyKey: string | null;
  /** The Idempotency-Secret header, or null if there is none. */
  idempotencySecret: string | null;
  /** The error of a body that could not be parsed. It is thrown only after access has been checked. */
  unreadableBody: AppError | null;
  setHeader(name: string, value: string): void;
  /** The token that `setBrowserCookie` gave to the browser, or null if there is none. */
  browserToken: string | null;
  /** Gives the browser a token by which it is recognized on the way back from an OpenID provider. */
  setBrowserCookie(browser: { token: string; expiresAt: Date } | null): void;
  setSessionCookie(session: { token: string; expiresAt: Date } | null): void;
};

/** The context of one call of a request. */
export type CallContext = Context & {
  /**
   * Returns the input as it arrived, before it is validated. Rejects if it could not be read. The checks before the
   * validation use it in place of tRPC's `getRawInput`, which is only for the validation.
   */
  readInput(): Promise<unknown>;
};

/** The metadata of a procedure. */
export type Meta = OpenApiMeta & {
  /** The role that the caller must have in the workspace of the input. */
  minRole?: Role;
  /** The level of the scope that an API key needs, if it does not follow from the role and the kind of the call. */
  scopeLevel?: ScopeLevel;
  /** Set if no API key may call the operation, whatever its scopes. */
  needsSession?: true;
  /** Set if the session must have a recent sign-in. This is also checked before a stored response is replayed. */
  needsRecentSignIn?: true;
  /** Set if participants with a pass may call the operation, with their token as the credential. */
  takesPassHolders?: true;
  /** The HTTP status of a successful REST call. Default: 200. */
  successStatus?: 201;
  /** For writes that ignore idempotency keys, or whose keys belong to the participant. */
  idempotencyKey?: 'ignored' | 'of the participant';
  /** The maximum size of the body in bytes, if it differs from the defaults in body-limits.ts. */
  maxBodyBytes?: number;
  /** The limit of the caller's network that calls without a credential count toward, for an operation for anyone. */
  networkLimit?: NetworkLimitName;
  /**
   * For a public operation that also accepts a credential. With `recognized`, an invalid one counts as none, as does an
   * API key.
   */
  credential?: 'optional' | 'recognized';
  /**
   * The field of the output that contains a URL. Over REST, the response redirects to it with 302, unless the `Accept`
   * header asks for JSON.
   */
  redirectsTo?: 'url';
  /** For a read whose output has a signed URL or a secret: the response is neither stored, tagged nor compressed. */
  noStore?: true;
  /** Error statuses for the OpenAPI document, besides those that all operations of the same kind have. */
  refusals?: readonly (401 | 403 | 404 | 409)[];
  /** For an operation that will be removed. */
  deprecated?: Deprecation;
};
