/** Reads the messages of a webhook from the API as they are created. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, isLynxroomError } from '../../../client/src/index.ts';
import type { Message } from './forward.ts';

const POLL_MS = 1_000;
const PAGE_SIZE = 100;

type Page = Awaited<ReturnType<Client['webhooks']['messages']['query']>>;

/**
 * Yields each message of the webhook once, oldest first, until `signal` is aborted. A poll that fails is repeated,
 * unless the service refuses it for good.
 */
export async function* followMessages(
  client: Client,
  webhook: { id: number; webhookId: number },
  signal: AbortSignal,
): AsyncGenerator<Message> {
  const seen = new Set<string>();
  while (!signal.aborted) {
    const found = await readNew(client, webhook, seen).catch((error: unknown) => {
      if (signal.aborted) return [];
      if (isLynxroomError(error) && error.status < 500 && error.status !== 429) throw error;
      return [];
    });
    for (const { id, event, sequence, payload } of found) {
      seen.add(id);
      yield { id, event, sequence, body: payload };
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => {});
  }
}

/** The list is newest first, so the first page with an already seen message is the last one to read. */
async function readNew(client: Client, webhook: { id: number; webhookId: number }, seen: ReadonlySet<string>) {
  const found: Page['messages'] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Page = await client.webhooks.messages.query({
      ...webhook,
      limit: PAGE_SIZE,
      ...(cursor && { cursor }),
    });
    const unknown = page.messages.filter(({ id }) => !seen.has(id));
    found.push(...unknown);
    // Services of version 0.2 return null after the last page.
    cursor = page.next_cursor || undefined;
    if (cursor === undefined || unknown.length < page.messages.length) return found.reverse();
  }
}
