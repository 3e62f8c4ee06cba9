/** The interface of an adapter, which verifies the callbacks of one meeting provider and reads their events. */
import { AppError, type Issue } from '../../../core/errors.ts';
import type { ProviderEvent } from './provider-event.ts';

/**
 * A request from a provider. `body` holds the raw bytes, because the signature covers the bytes, not the JSON value.
 */
export type Callback = { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer };

/**
 * The content of a callback with a valid signature. `dedupeKey` (1 to 200 characters) is the same each time the
 * provider sends the same callback. `events` is empty if the callback reports nothing that the service uses. The
 * callback is accepted anyway, because the provider would otherwise retry it.
 */
export type VerifiedCallback = { dedupeKey: string; events: ProviderEvent[] };

/**
 * The credentials that verify a provider's callbacks, in the shape that `credentialsSchemas` defines for the provider.
 */
export type ProviderCredentials = Readonly<Record<string, string | undefined>>;

export type ProviderAdapter = {
  /**
   * Verifies a callback at the time `now` and reads its events. Throws UnverifiedCallback (401) if the callback is not
   * signed with these credentials, and MalformedCallback (400) if it is signed but cannot be read. Throws a plain Error
   * if the credentials do not match the provider's schema, which is a bug in this service.
   */
  readAndVerify(callback: Callback, credentials: ProviderCredentials, now: Date): Promise<VerifiedCallback>;
};

/** 401: the signature is missing, wrong or expired. The message contains no part of a secret or of the body. */
export class UnverifiedCallback extends AppError {
  constructor(message: string) {
    super('UNAUTHORIZED', message);
    this.name = 'UnverifiedCallback';
  }
}

/** 400: the callback is signed, but its content is not valid. The message names the field. */
export class MalformedCallback extends AppError {
  constructor(message: string, issues?: readonly Issue[]) {
    super('BAD_REQUEST', message, issues && { issues });
    this.name = 'MalformedCallback';
  }
}
