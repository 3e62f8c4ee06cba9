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
