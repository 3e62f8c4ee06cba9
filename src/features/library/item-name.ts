import { normalizeName } from '../../core/text.ts';
import { MAX_ITEM_NAME_LENGTH } from './schemas.ts';

/**
 * Converts any string to a display name: one normalized line without control characters, truncated to the maximum
 * length.
 */
export function toItemName(text: string): string {
  const line = normalizeName(text.toWellFormed().replace(/[\p{Cc}\u2028\u2029]+/gu, ' '));
  const characters = [...line];
  if (characters.length <= MAX_ITEM_NAME_LENGTH) return line || 'Untitled';
  const extension = /\.[a-z0-9]{1,8}$/i.exec(line)?.[0] ?? '';
  return characters.slice(0, MAX_ITEM_NAME_LENGTH - extension.length).join('') + extension;
}
