/** Connects only to addresses that the guard allows. */
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';
import { skipInterimResponses } from './skip-interim-responses.ts';

/**
 * How long a connection to one address of a host may take before the next address is tried. Node's default of 250 ms is
 * too short for a distant receiver: Node would give up on a working address, and the connection would fail if the other
 * addresses are not reachable from here.
 */
const ADDRESS_TIMEOUT_MS = 2_500;

/**
 * Creates a connector for undici. It connects only to the addresses that the guard has checked, and does not resolve
 * the name again. `timeoutMs` limits the time to connect, including the TLS handshake. Each connection must carry one
 * request at a time (`pipelining: 1`), and undici sees no interim responses.
 */
export function createGuardedConnector(guard: AddressGuard, timeoutMs: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, _options, callback) => {
    guard.resolve(hostname).then(
      (addresses) => callback(null, addresses),
      (error: Error) => callback(error, []),
    );
  };
  const connect = buildConnector({
    lookup,
    // With this option, Node requests all addresses from `lookup`, and tries one after another.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    timeout: timeoutMs,
    // HTTP/2 has no advantage here, and it gives a receiver more ways to misbehave.
    allowH2: false,
    // Explicit, because the environment variable NODE_TLS_REJECT_UNAUTHORIZED changes the default.
    rejectUnauthorized: true,
  });

  return (options, callback) => {
    const fail = (error: Error): void => callback(error, null);
    const open = (): void =>
      connect(withoutFinalDot(options), (error, socket) => {
        if (error) return fail(error);
        const { remoteAddress } = socket;
        if (remoteAddress === undefined) return fail(connectionReset());
        // Node does not call `lookup` if the host is an IP address, so check the address of the connected socket.
        guard.resolve(remoteAddress).then(
          () => {
            if (socket.destroyed) return fail(connectionReset());
            skipInterimResponses(socket);
            callback(null, socket);
          },
          (refusal: Error) => {
            socket.destroy();
            fail(refusal);
          },
        );
      });
    // Node calls `lookup` only for names.
    if (isIP(options.hostname) === 0) open();
    else guard.resolve(options.hostname).then(open, fail);
  };
}

/** Removes the final dot for TLS, whose server names have none (RFC 6066, section 3). */
function withoutFinalDot(options: buildConnector.Options): buildConnector.Options {
  return options.hostname.endsWith('.') ? { ...options, servername: options.hostname.slice(0, -1) } : options;
}

/**
 * The error for a socket that is already closed. If undici got such a socket, it would reconnect repeatedly until the
 * deadline.
 */
function connectionReset(): Error {
  return Object.assign(new Error('The connection was closed at once'), { code: 'ECONNRESET' });
}
