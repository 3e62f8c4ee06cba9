/** Malformed ids, unknown ids and names, and invalid credentials. */
import { type Child, isNamedByText } from './row.ts';

export const UNKNOWN_ID = 2_147_483_647;

/** Ids that no resource has. The last ones are outside of the 32-bit, 53-bit and 64-bit integers. */
export const UNKNOWN_IDS: readonly number[] = [UNKNOWN_ID, 0, -1, 2_147_483_648, -(2 ** 40), 2 ** 53, 1e20];

const MALFORMED_IDS: readonly unknown[] = [1.5, 'abc', '1e0', '01', '1.0', '+1', ' 1', '\u0661', '9'.repeat(400)];

/** Values that are not a valid id, and the error text about what an id must be. */
export type IdForm = { malformed: readonly unknown[]; form: string };

export const idForm: IdForm = { malformed: MALFORMED_IDS, form: 'must be a positive 32-bit integer' };

/** The children whose ids are not 32-bit integers. */
export const childIdForms: Partial<Record<Child, IdForm>> = {
  deliveryId: { malformed: MALFORMED_IDS, form: 'must be the id of a delivery, an integer' },
};

/** Names that no room has; some could not be a name. */
const UNKNOWN_NAMES = ['no-such-room', 'A', '%00', 'x'.repeat(4_000), '\u0661', `msg_${'f'.repeat(32)}`];

export function unknownChildren(child: Child): readonly unknown[] {
  return isNamedByText(child) ? UNKNOWN_NAMES : UNKNOWN_IDS;
}

export const invalidTokens: readonly string[] = [
  'x',
  'lns_',
  `lns_${'A'.repeat(43)}`,
  `lnx_${'A'.repeat(40)}`,
  'A'.repeat(10_000),
  '%00',
  'x y',
];
