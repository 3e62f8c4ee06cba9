/** The pages that are connected with the LiveKit server of the tests, each by a stream of messages to it. */
import type { ServerResponse } from 'node:http';

export class LivekitPages {
  readonly #streams = new Map<string, ServerResponse>();

  /** Opens the stream of a page, which learns who is there, and who learn of it by its own messages. */
  open(identity: string, others: readonly string[], response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.#streams.set(identity, response);
    this.send(identity, { type: 'joined', others });
    for (const other of others) this.send(other, { type: 'came', from: identity });
  }

  send(identity: string, message: object): void {
    this.#streams.get(identity)?.write(`data: ${JSON.stringify(message)}\n\n`);
  }

  end(identity: string): void {
    this.#streams.get(identity)?.end();
    this.#streams.delete(identity);
  }

  endAll(): void {
    for (const identity of [...this.#streams.keys()]) this.end(identity);
  }
}
