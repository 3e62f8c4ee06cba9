/** Compares what a page shows as an answer with the real one. */

const ISO_TIME = /\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::[\d.]+Z)?/g;
const DATE = /\b\d{4}-\d\d-\d\d\b/g;
const UUID = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;

/**
 * Returns the first difference, or null. Times, dates and UUIDs match others of their kind, and `...` matches anything:
 * the rest of a text, the other fields of an object, or the other entries of an array.
 */
export function findJsonDifference(shown: string, answer: string): string | null {
  let actual: unknown;
  try {
    actual = JSON.parse(answer);
  } catch {
    return 'the answer is not one JSON value';
  }
  return differs(parseShown(shown), actual, '');
}

/** As `findJsonDifference`, for text. A line that is only `...` matches any number of lines. */
export function findTextDifference(shown: string, answer: string): string | null {
  return matchesText(shown.trim(), answer.trim()) ? null : 'the output differs';
}

/** Whether `output` contains the shown text. */
export function containsText(shown: string, output: string): boolean {
  return matchesText(`...${shown.trim()}...`, output);
}

const REST = '\u0000...';

/** Parses JSON in which `...` may stand for the other fields or entries. */
function parseShown(text: string): unknown {
  const brackets: string[] = [];
  const json = text.replaceAll(/"(?:[^"\\]|\\.)*"|\.\.\.|[[{\]}]/g, (token) => {
    if (token === '[' || token === '{') brackets.push(token);
    if (token === ']' || token === '}') brackets.pop();
    if (token !== '...') return token;
    return brackets.at(-1) === '{' ? `${JSON.stringify(REST)}: 0` : JSON.stringify(REST);
  });
  return JSON.parse(json);
}

function differs(shown: unknown, actual: unknown, path: string): string | null {
  if (Array.isArray(shown))
    return Array.isArray(actual) ? arraysDiffer(shown, actual, path) : says(shown, actual, path);
  if (isObject(shown)) return isObject(actual) ? objectsDiffer(shown, actual, path) : says(shown, actual, path);
  if (typeof shown === 'string' && typeof actual === 'string' && matchesText(shown, actual)) return null;
  if (isUnixTime(shown) && isUnixTime(actual)) return null;
  return shown === actual ? null : says(shown, actual, path);
}

function arraysDiffer(shown: unknown[], actual: unknown[], path: string): string | null {
  const isPartial = shown.at(-1) === REST;
  const entries = isPartial ? shown.slice(0, -1) : shown;
  if (isPartial ? actual.length < entries.length : actual.length !== entries.length)
    return `${path || 'the answer'} has ${actual.length} entries`;
  return firstOf(entries.map((entry, index) => differs(entry, actual[index], `${path}[${index}]`)));
}

function objectsDiffer(shown: Record<string, unknown>, actual: Record<string, unknown>, path: string): string | null {
  const names = Object.keys(shown).filter((name) => name !== REST);
  const unshown = REST in shown ? [] : Object.keys(actual).filter((name) => !(name in shown));
  if (unshown.length > 0) return `${path || 'the answer'} also has ${unshown.join(', ')}`;
  return firstOf(
    names.map((name) => {
      const field = path === '' ? name : `${path}.${name}`;
      return name in actual ? differs(shown[name], actual[name], field) : `${field} is missing`;
    }),
  );
}

function firstOf(differences: (string | null)[]): string | null {
  return differences.find((difference) => difference !== null) ?? null;
}

function says(shown: unknown, actual: unknown, path: string): string {
  return `${path || 'the answer'} is ${JSON.stringify(actual)}, not ${JSON.stringify(shown)}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isUnixTime(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1e9 && Number(value) < 1e10;
}

function matchesText(shown: string, actual: string): boolean {
  const pattern = normalize(shown)
    .split(/(?:^\.\.\.\n|\n\.\.\.$|\.\.\.)/m)
    .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[\\s\\S]*?');
  return new RegExp(`^${pattern}$`).test(normalize(actual));
}

function normalize(text: string): string {
  return text
    .replaceAll(ISO_TIME, 'TIME')
    .replaceAll(DATE, 'DATE')
    .replaceAll(UUID, 'UUID')
    .replaceAll(/[ \t\r]+$/gm, '');
}
