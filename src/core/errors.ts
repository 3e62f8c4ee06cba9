/**
 * The catalogue of expected failures. Every transport renders them in the same way. Any other error is a bug: the
 * response is a 500 without details.
 */

import { type RequiredScope, toScope } from './scopes.ts';

/** The HTTP status of each error code. */
export const statusOf = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  SECOND_FACTOR_REQUIRED: 401,
  SECOND_FACTOR_WRONG: 401,
  SIGN_IN_EXPIRED: 401,
  SIGN_IN_REFUSED: 401,
  FORBIDDEN: 403,
  REAUTHENTICATION_REQUIRED: 403,
  EMAIL_NOT_CONFIRMED: 403,
  SCOPE_MISSING: 403,
  EMBED_SCOPE: 403,
  KEY_IS_NO_PERSON: 403,
  NETWORK_NOT_ALLOWED: 403,
  WORKSPACE_REQUIRES_SECOND_FACTOR: 403,
  WORKSPACE_REQUIRES_PROVIDER: 403,
  PARTICIPANT_REMOVED: 403,
  ROOM_LOCKED: 403,
  MEMBERS_ONLY: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  CONFLICT: 409,
  ACCOUNT_NOT_LINKED: 409,
  CONNECTION_NOT_OPEN: 409,
  CONNECTION_REPLACED: 409,
  MEETING_FULL: 409,
  ROOM_FULL: 409,
  IDEMPOTENCY_KEY_IN_USE: 409,
  IDEMPOTENCY_ANSWER_LOST: 409,
  UNSUPPORTED_TUS_VERSION: 412,
  PAYLOAD_TOO_LARGE: 413,
  URI_TOO_LONG: 414,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RANGE_NOT_SATISFIABLE: 416,
  IDEMPOTENCY_KEY_REUSED: 422,
  TOO_MANY_REQUESTS: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL_SERVER_ERROR: 500,
  STORAGE_UNAVAILABLE: 500,
  SERVICE_UNAVAILABLE: 503,
  PROVIDER_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof statusOf;

/** A problem with the input. `path` is the dotted path of the field (`events.0`), or empty for the whole body. */
export type Issue = { path: string; message: string };

export type AppErrorOptions = {
  issues?: readonly Issue[];
  /** When the caller may try again. Sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** Whether the same call may succeed later, without a correction. If so, its idempotency key remains free. */
  isTransient?: boolean;
  /** The parameters of the header `WWW-Authenticate` of a 401. */
  challenge?: string;
  cause?: unknown;
};

/** An expected failure. Its message is shown to the caller unchanged. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly issues: readonly Issue[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isTransient: boolean;
  readonly challenge: string | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.issues = options.issues;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.isTransient = options.isTransient ?? options.retryAfterSeconds !== undefined;
    this.challenge = options.challenge;
  }
}

/** The resources that a 404 can name. */
export type Resource =
  | 'Workspace'
  | 'Member'
  | 'Label'
  | 'Item'
  | 'Poster'
  | 'Logo'
  | 'Upload'
  | 'Invite'
  | 'Invitation'
  | 'Room'
  | 'Recording'
  | 'Meeting'
  | 'API key'
  | 'Embed token'
  | 'Webhook'
  | 'Delivery'
  | 'Message'
  | 'Participant'
  | 'Link'
  | 'Pass'
  | 'Contact'
  | 'Booking page'
  | 'Booking'
  | 'Connection'
  | 'Calendar feed'
  | 'Identity'
  | 'Provider'
  | 'Passkey'
  | 'Session'
  | 'App'
  | 'Trash entry';

/** 400 with an issue for the field at `path`. */
export function badField(path: string, message: string, cause?: unknown): AppError {
  return new AppError('BAD_REQUEST', message, { issues: [{ path, message }], cause });
}

export function badRequest(message: string): AppError {
  return new AppError('BAD_REQUEST', message);
}

export function unauthorized(): AppError {
  return new AppError('UNAUTHORIZED', 'Unauthorized');
}

export function forbidden(message = 'Forbidden'): AppError {
  return new AppError('FORBIDDEN', message);
}

/** 403 for an operation that needs a recent sign-in. */
export function reauthenticationRequired(): AppError {
  return new AppError('REAUTHENTICATION_REQUIRED', 'Confirm who you are first: POST /api/auth/reauthenticate');
}

/** 403 for an account that only the domain of its address admits, until the address is confirmed. */
export function emailNotConfirmed(): AppError {
  return new AppError('EMAIL_NOT_CONFIRMED', 'Confirm your email address first: open the link in the mail sent to it');
}

/** 403 for an embed token outside of what it was made for. */
export function embedScope(): AppError {
  return new AppError('EMBED_SCOPE', 'This embed token does not allow this operation');
}

/** 403 for an API key without the scope that the operation requires. */
export function scopeMissing(required: RequiredScope): AppError {
  return new AppError('SCOPE_MISSING', `This API key lacks the scope ${toScope(required)}`);
}

/** 403 for an API key where only a person may act. `instead` says what the caller can do. */
export function keyIsNoPerson(instead: string): AppError {
  return new AppError('KEY_IS_NO_PERSON', instead);
}

/** 403 for an API key that is limited to other networks. `address` is the caller's address as seen by the service. */
export function networkNotAllowed(address: string): AppError {
  return new AppError('NETWORK_NOT_ALLOWED', `This API key may not be used from the address ${address}`);
}

/** 403 for the token of a participant whom a host has removed. */
export function participantRemoved(): AppError {
  return new AppError('PARTICIPANT_REMOVED', 'A host has removed you from this room');
}

/** 403 for a person who tries to join a locked room. The same call may succeed once a host has unlocked the room. */
export function roomLocked(): AppError {
  return new AppError('ROOM_LOCKED', 'The room is locked: a host must unlock it', { isTransient: true });
}

/** 403 for a person who tries to join a room that is only for members of its workspace. */
export function membersOnly(): AppError {
  return new AppError('MEMBERS_ONLY', 'Only members of the workspace can join this room', { isTransient: true });
}

/** 409 for a person who tries to join a room that is full. The same call may succeed once somebody has left. */
export function roomFull(max: number): AppError {
  return new AppError('ROOM_FULL', `The room is full: at most ${max} people can be in it`, { isTransient: true });
}

/**
 * 404 for a resource that never existed, was deleted or belongs to another workspace. The response does not reveal
 * which.
 */
export function notFound(resource: Resource): AppError {
  return new AppError('NOT_FOUND', `${resource} not found`);
}

export function conflict(message: string, options?: Pick<AppErrorOptions, 'retryAfterSeconds'>): AppError {
  return new AppError('CONFLICT', message, options);
}

/** 409 because of a state that may change. The same call may succeed later. */
export function conflictForNow(message: string): AppError {
  return new AppError('CONFLICT', message, { isTransient: true });
}

export function tooManyRequests(message: string, retryAfterSeconds: number): AppError {
  return new AppError('TOO_MANY_REQUESTS', message, { retryAfterSeconds });
}

/** 400 for a caller who has hung up, and so never receives it. */
export function requestCutOff(): AppError {
  return badRequest('The request was cut off');
}

/** 503 because a queue is full or all slots are in use. */
export function serviceUnavailable(message: string, retryAfterSeconds: number): AppError {
  return new AppError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds });
}

/** 503 because concurrent calls changed the data during every attempt of this call. */
export function tooManyTries(): AppError {
  return serviceUnavailable('The service is busy: try again in a moment', 1);
}

export function storageUnavailable(message: string, cause: unknown): AppError {
  return new AppError('STORAGE_UNAVAILABLE', message, { cause });
}
