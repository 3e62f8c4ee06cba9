/** The addresses in a text that somebody has pasted, or in a CSV file. */

const SEPARATOR = /[\s<>,;"'()[\]]+/;

/** How many people can be invited at once. */
export const MAX_ADDRESSES = 100;

/** Returns each address once, in the order of the text: `Ada <ada@example.com>, grace@example.com`. */
export function readAddresses(text: string): string[] {
  const found = new Map<string, string>();
  for (const word of text.split(SEPARATOR)) {
    const address = word.replace(/^mailto:/i, '').replace(/\.$/, '');
    const key = address.toLowerCase();
    if (/.@./.test(address) && !found.has(key)) found.set(key, address);
  }
  return [...found.values()];
}
