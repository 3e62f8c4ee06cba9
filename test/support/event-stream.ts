/** Reads a stream of Server-Sent Events over real HTTP, without a library. */
import { eventually } from './eventually.ts';

export type ReceivedEvent = {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies have any shape, and tests check what they expect
  data: any;
};

export type ReceivedStream = {
  status: number;
  headers: Headers;
  /** The events so far. */
  events: ReceivedEvent[];
  /** The text so far, which also has the comments. */
  text(): string;
  /** Resolves when the stream has ended, for whatever reason. */
  ended: Promise<void>;
  /** Waits until an event of this type has arrived, and returns the first. */
  first(event: string): Promise<ReceivedEvent>;
  close(): void;
};

/** Opens a stream. Throws unless the service answers with one. */
export async function openEventStream(
  url: string,
  token: string | undefined,
  headers: Record<string, string> = {},
): Promise<ReceivedStream> {
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
    signal: controller.signal,
  });
  if (!response.ok || response.body === null) throw new Error(`${response.status}: ${await response.text()}`);
  const events: ReceivedEvent[] = [];
  let text = '';
  let parsed = 0;
  const read = async (body: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf('\n\n', parsed); end !== -1; end = text.indexOf('\n\n', parsed)) {
        const event = parseEvent(text.slice(parsed, end));
        if (event) events.push(event);
        parsed = end + 2;
      }
    }
  };
  const ended = read(response.body).catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    ended,
    first: (event) => eventually(async () => events.find((one) => one.event === event)),
    close: () => controller.abort(),
  };
}

/** Returns null for a block without data, such as a comment. */
function parseEvent(block: string): ReceivedEvent | null {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
      return [name, value];
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return null;
  return { id: fields.get('id') ?? '', event: fields.get('event') ?? 'message', data: data && JSON.parse(data) };
}
