/** The time of the service, since the clock of a visitor's computer may be wrong by hours or years. */

/** `Date` headers have whole seconds, and an answer takes a while to arrive. */
const TOLERANCE_MS = 5_000;

let offsetMs = 0;

/** The current time as Unix seconds, by the clock of the service once it has answered. */
export function nowSeconds(): number {
  return (Date.now() + offsetMs) / 1000;
}

/** `fetch` that reads the time of the service from each answer. */
export const fetchWithClock: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  const difference = Date.parse(response.headers.get('date') ?? '') - Date.now();
  if (!Number.isNaN(difference)) offsetMs = Math.abs(difference) > TOLERANCE_MS ? difference : 0;
  return response;
};
