/** Limits how many connections one network may have open, because each occupies memory even if it sends nothing. */
import type { Server } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { isLoopback, networkOf } from '../auth/networks.ts';
import { tooManyRequests } from '../core/errors.ts';
import { createLimiter } from '../core/limiter.ts';
import { toRawResponse } from './client-errors.ts';

export type ConnectionLimits = {
  /** 0 means no limit. */
  maxPerNetwork: number;
  /** Addresses and networks of proxies, which connect on behalf of many clients. */
  proxies: readonly string[];
  /** Whether connections from this machine are exempt. */
  exemptLoopback: boolean;
};

const RETRY_SECONDS = 5;

/** Responds with 429 to each connection beyond the limit, and closes it before anything is read. */
export function limitConnections(server: Server, { maxPerNetwork, proxies, exemptLoopback }: ConnectionLimits): void {
  if (maxPerNetwork === 0) return;
  const open = createLimiter<string>({ maxPerKey: maxPerNetwork });
  const trusted = toBlockList(proxies);
  server.on('connection', (socket) => {
    const { remoteAddress: address } = socket;
    // Undefined if the client has disconnected.
    if (address === undefined || (exemptLoopback && isLoopback(address))) return;
    if (trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return;
    const release = open.tryTake(networkOf(address));
    if (release === null) {
      const refusal = tooManyRequests('Too many connections from your network', RETRY_SECONDS);
      socket.end(toRawResponse(refusal).text);
      socket.destroySoon();
      return;
    }
    socket.once('close', release);
  });
}

function toBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}
