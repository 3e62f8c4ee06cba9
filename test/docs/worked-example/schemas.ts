/** What the worked example of CONTRIBUTING.md adds to `src/features/library/schemas.ts`. */
import { z } from 'zod';
import { count } from '../../../src/core/validation.ts';

export { ItemInput } from '../../../src/features/library/schemas.ts';

export const ClearedLabels = z
  .object({ removed: count.describe('How many labels the item had') })
  .meta({ id: 'ClearedLabels' });
export type ClearedLabels = z.infer<typeof ClearedLabels>;
