/** A webhook receiver on a port of this machine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { verifyWebhook, WebhookVerificationError } from '../../../client/src/index.ts';
import type { Message } from './forward.ts';

export type Receiver = {
  url: string;
  /** Yields each message once, in the order of arrival, until `signal` is aborted. Requests are verified first. */
  messages(secret: string, signal: AbortSignal): AsyncGenerator<Message>;
  close(): Promise<void>;
};

/** Listens on a free port of the loopback interface. */
export async function startReceiver(): Promise<Receiver> {
  const received: Message[] = [];
  const seen = new Set<string>();
  let secret: string | undefined;
  let wake = (): void => {};

  const receive = async (request: IncomingMessage): Promise<void> => {
    const body = await text(request);
    // A message cannot arrive before the secret is known, unless it overtakes the response that contains the secret.
    if (secret === undefined) throw new WebhookVerificationError('Not ready');
    await verifyWebhook(body, request.headers, secret);
    const id = String(request.headers['webhook-id']);
    if (seen.has(id)) return;
    seen.add(id);
    const sequence = request.headers['x-webhook-sequence'];
    received.push({ id, event: JSON.parse(body).event, sequence: sequence ? Number(sequence) : null, body });
    wake();
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    receive(request).then(
      () => response.writeHead(204).end(),
      (error: unknown) => response.writeHead(error instanceof WebhookVerificationError ? 401 : 400).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}/`,
    async *messages(key, signal) {
      secret = key;
      signal.addEventListener('abort', () => wake(), { once: true });
      while (!signal.aborted) {
        const next = received.shift();
        if (next) yield next;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
