/** Response schemas that several features share. */
import { z } from 'zod';

export const Ok = z.object({ ok: z.literal(true) }).meta({ id: 'Ok' });
