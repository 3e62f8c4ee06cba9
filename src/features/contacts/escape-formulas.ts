/**
 * Cells of a CSV file that a spreadsheet would run as a formula. As OWASP advises (CSV Injection), such a cell leaves
 * with a single quote in front; a cell that begins with quotes and then like a formula gets one more, so that reading,
 * which takes one off, gives back what was written.
 */

/** What OWASP lists, and the wide forms of the same signs, which some spreadsheets take for them. */
const FORMULA_SIGNS = '=+\\-@\\t\\r\\n＝＋－＠';
const LIKE_FORMULA = new RegExp(`^'*[${FORMULA_SIGNS}]`);
const DEFUSED = new RegExp(`^'+[${FORMULA_SIGNS}]`);

/** The cell as it may leave. */
export function escapeFormula(cell: string): string {
  return LIKE_FORMULA.test(cell) ? `'${cell}` : cell;
}

/** The cell as it was before `defuse`; one that `defuse` did not change stays. */
export function unescapeFormula(cell: string): string {
  return DEFUSED.test(cell) ? cell.slice(1) : cell;
}
