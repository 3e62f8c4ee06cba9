/** What is derived from the declarations of the events: their names, their schemas, and the types of their bodies. */
import type { z } from 'zod';
import { liveEvents, testEvents, webhookEvents } from './declarations.ts';

/** All events of the event log. */
export const loggedEvents = { ...webhookEvents, ...liveEvents } as const;

/** All events that are sent to webhooks. */
export const sentEvents = { ...webhookEvents, ...testEvents } as const;

export type EventType = keyof typeof webhookEvents;

export type LoggedType = keyof typeof loggedEvents;

export type SentType = keyof typeof sentEvents;

/** The events that a webhook can subscribe to, in the order of the catalogue. */
export const eventTypes = namesOf(webhookEvents);

export const loggedTypes = namesOf(loggedEvents);

/** All events that a receiver can get, in the order of the catalogue; `webhook.test` is last. */
export const sentTypes = namesOf(sentEvents);

/** The data of an event. */
export type EventData<Type extends LoggedType> = z.input<(typeof loggedEvents)[Type]['data']>;

/** An event to be emitted. */
export type NewEvent = {
  [Type in LoggedType]: { type: Type; workspaceId: number; data: EventData<Type> };
}[LoggedType];

type Body<Event extends string, Data> = {
  event: Event;
  /** The time at which the event happened (ISO 8601, UTC). */
  timestamp: string;
  data: Data;
};

/** The body of a webhook request. `event` determines the type of `data`. */
export type WebhookBody = { [Type in SentType]: Body<Type, z.output<(typeof sentEvents)[Type]['data']>> }[SentType];

/** An event of the live updates. `event` determines the type of `data`. */
export type LiveBody = { [Type in LoggedType]: Body<Type, z.output<(typeof loggedEvents)[Type]['data']>> }[LoggedType];

/** Whether a text is an event of the log that this version knows. A later version may have logged others. */
export function isLoggedType(text: string): text is LoggedType {
  return Object.hasOwn(loggedEvents, text);
}

// `as`: TypeScript types the result of Object.keys as strings, because an object may have more keys than its type.
function namesOf<Name extends string>(declared: Record<Name, unknown>): readonly Name[] {
  return Object.keys(declared) as Name[];
}
