/** Slugs: names that are used in URLs. */

/** JSON Schema keywords for 1 to 64 characters: lower-case letters a-z, digits, and single hyphens between them. */
export const slugFormat = { minLength: 1, maxLength: 64, pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$' } as const;

const SLUG = new RegExp(slugFormat.pattern);

/** Whether a string has the format of a slug. */
export function isSlug(text: string): boolean {
  return text.length >= slugFormat.minLength && text.length <= slugFormat.maxLength && SLUG.test(text);
}

/**
 * Returns the slug that a path or an input names, or null if it cannot be one. Slugs are in lower case, so capitals,
 * which people and programs put into links, cannot name anything else.
 */
export function readSlug(text: string): string | null {
  const slug = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return isSlug(slug) ? slug : null;
}

/**
 * Converts a name to a slug of at most `max` characters: lower-case ASCII letters and digits, with single hyphens
 * between the words. Returns `fallback` if the name has no words.
 */
export function toSlug(name: string, fallback: string, max: number): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean);
  return words.join('-').slice(0, max).replace(/-$/, '') || fallback;
}
