/** Finds variables of the environment that are probably misspelt settings. */

/** Families of settings. Other variables with these prefixes are unlikely to belong to another program. */
const PREFIXES = /^(?:BOOKINGS|LIVEKIT|METRICS|OIDC|PARTICIPANT|PASSKEY|QUOTA|RATE_LIMIT|RECORDING|S3|WEBHOOK)_/;
/** Kubernetes sets these for each service: WEBHOOK_SERVICE_HOST, S3_PORT_9000_TCP. S3_TEST_* is for tests. */
const FOREIGN = /_SERVICE_(?:HOST|PORT\w*)$|_PORT(?:_\d+_\w+)?$|^S3_TEST_/;
/**
 * A valid name. If a line of `.env` has no `=` directly after the name, everything up to a later `=` becomes the
 * variable's name. Such a name does not match.
 */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/**
 * A variable counts as a misspelling of a setting if their names differ in at most two letters. If the setting has
 * fewer letters than this, only one letter may be missing or added, or two letters swapped.
 */
const LONG_NAME = 8;

/**
 * Returns one line that names the variables, each with the most similar setting, or null if there are none. The line
 * does not contain their values, which may be secrets.
 */
export function describeUnknownSettings(
  env: Readonly<Record<string, string | undefined>>,
  settings: readonly string[],
): string | null {
  const found = Object.keys(env)
    .filter((name) => (env[name] !== '' || !NAME.test(name)) && !settings.includes(name) && !FOREIGN.test(name))
    .flatMap((name) => describe(name, settings) ?? []);
  return found.length === 0 ? null : `Unknown settings, which have no effect: ${found.join(', ')}`;
}

/** Returns undefined if the variable does not look like a setting. */
function describe(name: string, settings: readonly string[]): string | undefined {
  if (!NAME.test(name)) return describeLine(name, settings);
  // LYNXROOM_HOST means HOST. LYNXROOM_URL, which clients read, resembles no setting.
  const plain = name.toUpperCase().replace(/^LYNXROOM_/, '');
  const ranked = settings.map((setting) => ({ setting, distance: distanceBetween(plain, setting) }));
  const [nearest] = ranked.sort((a, b) => a.distance - b.distance);
  if (nearest === undefined) return undefined;
  const isSimilar = nearest.distance <= maxDistance(plain, nearest.setting);
  if (isSimilar) return `${name} (did you mean ${nearest.setting}?)`;
  return PREFIXES.test(name) ? name : undefined;
}

/**
 * Describes a variable whose name consists of a setting and more text from the same line of `.env`. This happens if
 * there is no `=` directly after the setting. Returns undefined if the line does not begin with a setting or something
 * like one.
 */
function describeLine(line: string, settings: readonly string[]): string | undefined {
  const [name = ''] = /^[A-Za-z_][A-Za-z0-9_]*/.exec(line.trim()) ?? [];
  if (!settings.includes(name) && describe(name, settings) === undefined) return undefined;
  return `${name} (there is no = after this name in .env)`;
}

function maxDistance(name: string, setting: string): number {
  if (setting.length >= LONG_NAME) return 2;
  const isReplaced = name.length === setting.length && [...name].sort().join() !== [...setting].sort().join();
  return isReplaced ? 0 : 1;
}

/** How many letters to insert, remove, replace, or swap with the next one, to turn one string into the other. */
function distanceBetween(a: string, b: string): number {
  // The distance is at least the difference of the lengths, and no distance above 2 counts.
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY;
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const at = (line: number[], index: number): number => line[index] ?? Number.POSITIVE_INFINITY;
      const replaced = at(previous, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? at(before, column - 2) + 1 : Number.POSITIVE_INFINITY;
      current[column] = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, replaced, swapped);
    }
    [before, previous] = [previous, current];
  }
  return previous[b.length] ?? 0;
}
