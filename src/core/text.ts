/**
 * How text is normalized before it is stored or searched for. Every text that people read goes through one of these
 * functions. IDs and URLs of other systems do not: they are compared and sent as they are.
 */

/** Overrides, embeddings and isolates, which make one text look like another: "fdp.exe" is shown as "exe.pdf". */
const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Characters without a visible form. Lone surrogates are not among them, since validation rejects them. Unicode
 * classifies U+2800 and U+1D159 as symbols, but they are displayed as blanks.
 */
const ONLY_INVISIBLE =
  /^[\p{Cc}\p{Cf}\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2800\u{1d159}]*$/u;

/** The maximum of the Stream-Safe Text Format, UAX #15 section 13. No language needs more. */
const SURPLUS_MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * Normalizes a name: NFC, trimmed, without bidirectional controls, and with at most 30 combining marks in a row. The
 * result is empty if no character is visible.
 */
export function normalizeName(text: string): string {
  return normalizeText(text.replace(BIDI_CONTROLS, ''));
}

/** Like `normalizeName`, for text of several lines. It keeps bidirectional controls, which such text may need. */
export function normalizeText(text: string): string {
  const trimmed = text.trim();
  if (ONLY_INVISIBLE.test(trimmed)) return '';
  // Normalizing takes quadratic time in the number of marks in a row: seconds for the longest description.
  return trimmed.replace(SURPLUS_MARKS, '$1').normalize('NFC');
}
