/** The columns of a CSV file with contacts, as Google, Outlook and other programs name them. */
import type { AppError } from '../../core/errors.ts';
import { invalidCsv } from './csv-head.ts';
import { unescapeFormula } from './escape-formulas.ts';

/** Names of columns are compared in lower case. */
const EMAIL_COLUMNS = ['email', 'e-mail', 'email address', 'e-mail address', 'e-mail 1 - value', 'primary email'];
const NAME_COLUMNS = ['name', 'full name', 'display name'];
/** Their parts of a name, in this order, are used where there is no other name. */
const PART_COLUMNS = [
  ['first name', 'given name'],
  ['middle name', 'additional name'],
  ['last name', 'family name'],
];
/** Between the values of a field with several, in exports of Google Contacts. */
const VALUE_SEPARATOR = ' ::: ';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The indexes of the columns; `name` is -1 if there is no such column. */
export type ContactColumns = { email: number; name: number; parts: readonly number[] };

/**
 * Finds the columns by the header row, in any order: an email address (`Email`, `E-mail`, `E-mail Address`, `E-mail 1 -
 * Value`), and optionally a name (`Name`, `Full name`, `Display name`) or its parts (`First name` or `Given name`,
 * middle and last name). If a column occurs twice, the first one is used. Other columns are ignored. The fields are
 * bytes. Throws 400 if there is no column with an email address, or if the row is not UTF-8.
 */
export function findContactColumns(header: readonly string[]): ContactColumns {
  const titles = header.map((field) => {
    const title = decode(field);
    if (title === null) throw invalidCsv('CSV must be UTF-8 or UTF-16');
    return title.trim().toLowerCase();
  });
  const find = (names: readonly string[]): number => titles.findIndex((title) => names.includes(title));
  const email = find(EMAIL_COLUMNS);
  if (email === -1) throw noEmailColumn();
  return { email, name: find(NAME_COLUMNS), parts: PART_COLUMNS.map(find).filter((index) => index !== -1) };
}

/** Returns the name of a record, which may be blank, or null if it is not UTF-8. */
export function readName(record: readonly string[], { name, parts }: ContactColumns): string | null {
  const fields = [name, ...parts].map((index) => decode(record[index] ?? ''));
  if (fields.includes(null)) return null;
  const [whole = '', ...found] = fields.map((field) => unescapeFormula(field ?? ''));
  return whole.trim() === ''
    ? found
        .map((part) => part.trim())
        .filter(Boolean)
        .join(' ')
    : whole;
}

/** Returns the first email address of a record, or null if the field is not UTF-8. */
export function readEmail(record: readonly string[], { email }: ContactColumns): string | null {
  const field = decode(record[email] ?? '');
  return field === null ? null : (unescapeFormula(field).split(VALUE_SEPARATOR, 1)[0] ?? '');
}

export function noEmailColumn(): AppError {
  return invalidCsv('CSV must have a column named email');
}

/** Returns the text of a field, or null if it is not UTF-8. */
function decode(field: string): string | null {
  try {
    return utf8.decode(Buffer.from(field, 'latin1'));
  } catch {
    return null;
  }
}
