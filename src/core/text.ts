/**
 * How text is normalized before it is stored or searched for. Every string that people read passes through one of these
 * functions. IDs and URLs of other systems do not: they are compared and sent unchanged.
 */

/**
 * Overrides, embeddings and isolates. They can make one string look like another: "fdp.exe" is displayed as "exe.pdf".
 */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Characters that display nothing. Lone surrogates are not included, because validation rejects them. Unicode
 * classifies U+2800 and U+1D159 as symbols, but they are displayed as blanks.
 */
const ONLY_INVISIBLE =
  /^[\p{Cc}\p{Cf}\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}]*$/u;

/** Of a normalized password. It limits the cost of hashing. */
export const MAX_PASSWORD_LENGTH = 200;

/** The maximum of the Stream-Safe Text Format (UAX #15, section 13). No language needs more. */
const SURPLUS_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * Normalizes a name: NFC, trimmed, without bidirectional controls, and with at most 30 consecutive combining marks.
 * Returns an empty string if no character is visible.
 */
export function normalizeName(text: string): string {
  return normalizeText(text.replace(BIDI_CONTROLS, ''));
}

/** Like `normalizeName`, but for multiline text. Keeps bidirectional controls, because longer text may need them. */
export function normalizeText(text: string): string {
  const trimmed = text.trim();
  if (ONLY_INVISIBLE.test(trimmed)) return '';
  // The time that normalization takes grows with the square of the number of consecutive marks. The longest description
  // would take seconds.
  return trimmed.replace(SURPLUS_MARKS, '$1').normalize('NFC');
}

/** No password has more characters than this, however it is typed: NFD has at most four times those of NFC. */
const MAX_TYPED_PASSWORD_LENGTH = 4 * MAX_PASSWORD_LENGTH;

/**
 * Normalizes a password as RFC 8265 says (OpaqueString), so that it is the same whatever the keyboard: NFC, and each
 * kind of space as a plain one. Text that is too long for a password is returned unchanged.
 */
export function normalizePassword(text: string): string {
  if (text.length > MAX_TYPED_PASSWORD_LENGTH) return text;
  return text.replace(/\p{Zs}/gu, ' ').normalize('NFC');
}
