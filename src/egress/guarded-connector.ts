/** Connections that lead only where the guard lets them. */
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressGuard } from './address-guard.ts';

/**
 * How long one of a host's addresses is dialled before the next is tried. Node's 250 ms give up on a receiver at the other
 * end of the world, and where its second address is one that this machine has no route to, that is the end of it.
 */
const PER_ADDRESS_MS = 2_500;

/**
 * Opens connections for undici. The addresses that the guard judges are those that are dialled: nothing looks the name up
 * again in between. `timeoutMs` is for the connection with its TLS handshake.
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
    // With it Node asks `lookup` for all addresses, and tries one after the other.
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: PER_ADDRESS_MS,
    timeout: timeoutMs,
    // HTTP/2 would let a receiver hold many requests on a connection, and is more to defend against, for no gain here.
    allowH2: false,
    // Said aloud, for the environment's NODE_TLS_REJECT_UNAUTHORIZED could say otherwise.
    rejectUnauthorized: true,
  });

  return (options, callback) => {
    const fail = (error: Error): void => callback(error, null);
    const dial = (): void =>
      connect(withoutFinalDot(options), (error, socket) => {
        if (error) return fail(error);
        const { remoteAddress } = socket;
        if (remoteAddress === undefined) return fail(closedEarly());
        // Where it led after all, whatever became of the look-up: one more judgement costs microseconds.
        guard.resolve(remoteAddress).then(
          () => (socket.destroyed ? fail(closedEarly()) : callback(null, socket)),
          (refusal: Error) => {
            socket.destroy();
            fail(refusal);
          },
        );
      });
    // Node asks `lookup` for names only.
    if (isIP(options.hostname) === 0) dial();
    else guard.resolve(options.hostname).then(dial, fail);
  };
}

/** TLS knows no dot at the end of a server's name: RFC 6066, section 3. */
function withoutFinalDot(options: buildConnector.Options): buildConnector.Options {
  return options.hostname.endsWith('.') ? { ...options, servername: options.hostname.slice(0, -1) } : options;
}

/** Given a socket that is closed already, undici would dial anew until the attempt's deadline. */
function closedEarly(): Error {
  return Object.assign(new Error('Closed on connecting'), { code: 'ECONNRESET' });
}
