/** Limits how many connections one network may have open, because each occupies memory even if it sends nothing. */
import type { Server } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { isLoopback, networkOf } from '../auth/networks.ts';
import { tooManyRequests } from '../core/errors.ts';
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
  const open = new Map<string, number>();
  const trusted = toBlockList(proxies);
  server.on('connection', (socket) => {
    const { remoteAddress: address } = socket;
    // Undefined if the client has disconnected.
    if (address === undefined || (exemptLoopback && isLoopback(address))) return;
    if (trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return;
    const network = networkOf(address);
    const count = open.get(network) ?? 0;
    if (count >= maxPerNetwork) {
      const refusal = tooManyRequests('Too many connections from your network', RETRY_SECONDS);
      socket.end(toRawResponse(refusal).text);
      socket.destroySoon();
      return;
    }
    open.set(network, count + 1);
    socket.once('close', () => {
      const left = (open.get(network) ?? 0) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
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
