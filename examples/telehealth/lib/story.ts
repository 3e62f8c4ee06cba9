/** What happened in the room, as webhooks tell it. A product keeps it in its database. */
import 'server-only';
import type { WebhookBody } from '@lynxroom/client';

const MAX_MESSAGES = 100;

// Next may load this module once for the route and once for the page.
declare global {
  var story: Map<string, WebhookBody> | undefined;
}
globalThis.story ??= new Map();
const messages = globalThis.story;

/** A message can arrive more than once: it then has the same id. */
export function remember(messageId: string, message: WebhookBody): void {
  messages.set(messageId, message);
  const [oldest] = messages.keys();
  if (messages.size > MAX_MESSAGES && oldest !== undefined) messages.delete(oldest);
}

/** Oldest first, in the order of the events: messages may overtake each other. */
export function readStory(): WebhookBody[] {
  return [...messages.values()].sort((one, other) => one.timestamp.localeCompare(other.timestamp));
}
