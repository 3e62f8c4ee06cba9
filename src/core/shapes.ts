/** Shapes that several features answer with. */
import { z } from 'zod';

export const Ok = z.object({ ok: z.literal(true) });
