/** `listProcedures` calls procedures through tRPC, and drops their input once all schemas have validated it. */
import { initTRPC } from '@trpc/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { listProcedures } from '../../src/trpc/call-procedure.ts';
import type { CallContext, Context } from '../../src/trpc/context.ts';
import { rawInputOf } from '../../src/trpc/raw-input.ts';

const t = initTRPC.context<CallContext>().create();

/** Reads the input before and after its validation, and notes what it found. */
let reads: unknown[] = [];
const reading = t.procedure.use(async ({ ctx, next }) => {
  reads = [await ctx.readInput()];
  const result = await next();
  reads.push(await ctx.readInput().catch((error: Error) => error.message));
  return result;
});

const procedures = listProcedures(
  t.router({
    withTwoSchemas: reading
      .input(z.object({ first: z.number() }))
      .use(async ({ ctx, next }) => {
        reads.push(await ctx.readInput());
        return next();
      })
      .input(z.object({ second: z.number() }))
      .query(({ input, path }) => ({ ...input, path })),
    withoutSchema: reading.query(() => 'done'),
  }),
);

function call(name: string, input: unknown): Promise<unknown> | undefined {
  // `as`: these procedures use nothing of the context but the input.
  return procedures.get(name)?.call({} as Context, rawInputOf(input));
}

const DROPPED = 'The input was read after it had been validated';

test('every schema gets the input, and so do the checks between them; afterwards it is dropped', async () => {
  const input = { first: 1, second: 2 };
  expect(await call('withTwoSchemas', input)).toEqual({ ...input, path: 'withTwoSchemas' });
  expect(reads).toEqual([input, input, DROPPED]);
});

test('an input that the last schema rejects is dropped too', async () => {
  await expect(call('withTwoSchemas', { first: 1 })).rejects.toMatchObject({ code: 'BAD_REQUEST' });
  expect(reads).toEqual([{ first: 1 }, { first: 1 }, DROPPED]);
});

test('a procedure without a schema ignores its input', async () => {
  expect(await call('withoutSchema', 'anything')).toBe('done');
  expect(reads).toEqual(['anything', 'anything']);
});
