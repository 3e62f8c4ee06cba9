/**
 * Protection against CSV injection, as OWASP recommends: the export adds a single quote in front of a cell that a
 * spreadsheet would run as a formula. It also adds one if the cell already has quotes before a formula, so that the
 * import restores every cell by removing one quote.
 */

/** The characters that OWASP lists, and their full-width forms, which some spreadsheets also accept. */
const FORMULA_SIGNS = '=+\\-@\\t\\r\\n＝＋－＠';
const FORMULA = new RegExp(`^'*[${FORMULA_SIGNS}]`);
const ESCAPED_FORMULA = new RegExp(`^'+[${FORMULA_SIGNS}]`);

/** Returns the cell as it is written to the export. */
export function escapeFormula(cell: string): string {
  return FORMULA.test(cell) ? `'${cell}` : cell;
}

/** Reverses `escapeFormula`. */
export function unescapeFormula(cell: string): string {
  return ESCAPED_FORMULA.test(cell) ? cell.slice(1) : cell;
}
