/**
 * Protection against CSV injection, as OWASP recommends: a cell that a spreadsheet would run as a formula is exported
 * with a single quote in front. A cell that already has quotes before such a formula gets another one, so that removing
 * one quote on import restores every cell.
 */

/** The characters that OWASP lists, and their full-width forms, which some spreadsheets accept too. */
const FORMULA_SIGNS = '=+\\-@\\t\\r\\n＝＋－＠';
const FORMULA = new RegExp(`^'*[${FORMULA_SIGNS}]`);
const ESCAPED_FORMULA = new RegExp(`^'+[${FORMULA_SIGNS}]`);

/** Returns the cell as it is exported. */
export function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** Reverses `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return ESCAPED_FORMULA.test(cell) ? cell.slice(1) : cell;
}
