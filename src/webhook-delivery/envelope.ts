/** The body that receivers get, and that is signed. */

export type Envelope = {
  event: string;
  /** When it happened. */
  timestamp: Date;
  data: unknown;
};

/** `{event, timestamp, data}` as JSON text; `timestamp` in ISO 8601, in UTC, with milliseconds. */
export function toBody({ event, timestamp, data }: Envelope): string {
  return JSON.stringify({ event, timestamp: timestamp.toISOString(), data });
}

/** The `timestamp` of a body that `toBody` made. */
export function timestampOf(body: string): string {
  const { timestamp }: { timestamp: string } = JSON.parse(body);
  return timestamp;
}
