import { AppError } from '../../core/errors.ts';

/** The codes of RFC 6749 (section 5.2), RFC 7591 (section 3.2.2) and RFC 8707 (section 2). */
export type OauthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata';

/** A 400 of an endpoint of OAuth. */
export class OauthError extends AppError {
  readonly error: OauthErrorCode;

  constructor(error: OauthErrorCode, message: string) {
    super('BAD_REQUEST', message);
    this.error = error;
  }
}
