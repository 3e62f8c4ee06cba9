/** Explains why no response arrived, in a sentence for the owner of the URL. */
import { AddressRefused, HostUnresolved } from './address-guard.ts';

const CLOSED = 'The connection was closed before a response arrived';
const UNREACHABLE = 'The host is unreachable';
const NO_CHAIN = 'TLS: the certificate is not signed by a trusted authority, or the chain is incomplete';
const BAD_HANDSHAKE = 'TLS: the handshake failed';
const FAILED = 'The connection failed';
const LARGE_HEADERS = 'The response headers are too large';
const NOT_HTTP = 'The response was not valid HTTP';

/**
 * Reasons by the error codes of the system, undici and OpenSSL
 * (docs.openssl.org/3.5/man1/openssl-verification-options).
 */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'The connection was refused'],
  ['ECONNRESET', CLOSED],
  ['EPIPE', CLOSED],
  ['UND_ERR_SOCKET', CLOSED],
  ['EHOSTUNREACH', UNREACHABLE],
  ['ENETUNREACH', UNREACHABLE],
  ['EADDRNOTAVAIL', UNREACHABLE],
  ['EACCES', UNREACHABLE],
  ['ETIMEDOUT', 'The connection timed out'],
  ['UND_ERR_CONNECT_TIMEOUT', 'The connection timed out'],
  ['UND_ERR_HEADERS_OVERFLOW', LARGE_HEADERS],
  ['INTERIM_RESPONSES_OVERFLOW', LARGE_HEADERS],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS: the certificate is self-signed'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'TLS: the certificate chain ends in a self-signed certificate'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', NO_CHAIN],
  ['UNABLE_TO_GET_ISSUER_CERT', NO_CHAIN],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', NO_CHAIN],
  ['CERT_UNTRUSTED', NO_CHAIN],
  ['CERT_HAS_EXPIRED', 'TLS: the certificate has expired'],
  ['CERT_NOT_YET_VALID', 'TLS: the certificate is not yet valid'],
  ['CERT_REVOKED', 'TLS: the certificate was revoked'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'TLS: the certificate is for another host'],
  ['EPROTO', BAD_HANDSHAKE],
  // The code if an assertion in undici's parser fails, for example because the status is below 100.
  ['ERR_ASSERTION', NOT_HTTP],
]);

/** Reasons by the prefix of the error code. */
const REASONS_BY_PREFIX: readonly (readonly [prefix: string, reason: string])[] = [
  ['ERR_SSL_', BAD_HANDSHAKE],
  ['ERR_TLS_', BAD_HANDSHAKE],
  ['ERR_STREAM_', CLOSED],
  ['ERR_SOCKET_', CLOSED],
];

/** Codes for a mistake in this service's calls, or for a resource that this machine has run out of. */
const OWN_CODES: ReadonlySet<string> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_REQ_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
]);

/**
 * Returns a short sentence without addresses, ports or stacks. Returns null for an error that only this service can
 * cause. If several addresses were tried, `error` is the AggregateError of node:net, with the code of the first
 * failure.
 */
export function failureReason(error: Error): string | null {
  if (error instanceof AddressRefused || error instanceof HostUnresolved) return error.message;
  // An undici error. Importing its class would load undici (20 MB) in servers that send nothing.
  if (error.name === 'HTTPParserError') return NOT_HTTP;
  const code = readCode(error);
  const reason = REASONS.get(code) ?? REASONS_BY_PREFIX.find(([prefix]) => code.startsWith(prefix))?.[1];
  return reason ?? (isOwnError(code) ? null : FAILED);
}

function readCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Any other Node error whose code begins with ERR_ also counts as a mistake of this service. */
function isOwnError(code: string): boolean {
  return code === '' || OWN_CODES.has(code) || code.startsWith('ERR_');
}
