/** The body of a webhook request. The signature covers exactly this body. */

export type Envelope = {
  event: string;
  /** The time at which the event happened. */
  timestamp: Date;
  data: unknown;
};

/** Returns `{event, timestamp, data}` as JSON; `timestamp` is ISO 8601 in UTC with milliseconds. */
export function toBody({ event, timestamp, data }: Envelope): string {
  return JSON.stringify({ event, timestamp: timestamp.toISOString(), data });
}

/** Returns the `timestamp` of a body that `toBody` returned. */
export function readTimestamp(body: string): string {
  const { timestamp }: { timestamp: string } = JSON.parse(body);
  return timestamp;
}
