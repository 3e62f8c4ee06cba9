/** `toCaller` runs a procedure as tRPC's own caller does. */
import { initTRPC } from '@trpc/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type CallOptions, toCaller } from '../../src/trpc/run-middlewares.ts';

const t = initTRPC.context<{ requestId: string }>().meta<{ word: string }>().create();

const adding = t.procedure
  .meta({ word: 'adds' })
  .use(({ ctx, meta, next }) => next({ ctx: { user: `${ctx.requestId} ${meta?.word}` } }))
  .input(z.object({ first: z.coerce.number() }));

const procedures = {
  'adds to the context and joins the inputs': adding
    .input(z.object({ second: z.number().default(2) }))
    .use(({ input, next }) => next({ ctx: { sum: input.first + input.second } }))
    .output(z.object({ user: z.string(), sum: z.number(), path: z.string() }))
    .query(({ ctx, input, path }) => ({ ...ctx, ...input, path })),
  'refuses its input': adding.input(z.object({ second: z.number() })).mutation(() => 'never'),
  // `as`: a value that does not have its type.
  'refuses its output': adding.output(z.object({ sum: z.number() })).query(() => ({ sum: 'x' as unknown as number })),
  'fails in its resolver': adding.query((): string => {
    throw new TypeError('broken');
  }),
  'continues after a failure': adding
    .use(async ({ next }) => {
      const result = await next();
      return result.ok ? result : next({ ctx: { user: `after ${result.error.code}` } });
    })
    .query(({ ctx }) => {
      if (!ctx.user.startsWith('after')) throw new Error('broken');
      return ctx.user;
    }),
  'cannot read its input': t.procedure.input(z.object({})).query(() => 'never'),
};

const outcomes: Record<keyof typeof procedures, unknown> = {
  'adds to the context and joins the inputs': { data: { user: 'r adds', sum: 3, path: 'some.path' } },
  'refuses its input': { code: 'BAD_REQUEST' },
  'refuses its output': { code: 'INTERNAL_SERVER_ERROR' },
  'fails in its resolver': { code: 'INTERNAL_SERVER_ERROR', cause: 'TypeError: broken' },
  'continues after a failure': { data: 'after INTERNAL_SERVER_ERROR' },
  'cannot read its input': { code: 'INTERNAL_SERVER_ERROR', cause: 'RangeError: unreadable' },
};

function settle(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    (data) => ({ data }),
    ({ name, code, message, cause }) => ({ name, code, message, cause: String(cause) }),
  );
}

for (const [name, procedure] of Object.entries(procedures))
  test(`a procedure that ${name}`, async () => {
    const options = {
      ctx: { requestId: 'r' },
      getRawInput: async () => {
        if (name === 'cannot read its input') throw new RangeError('unreadable');
        return { first: '1' };
      },
      dropRawInput() {},
      path: 'some.path',
      type: 'query',
      signal: undefined,
      batchIndex: 0,
    };
    // `as`: the context of this test is smaller, and the type of a procedure hides that it is a function.
    const found = await settle(toCaller(procedure)(options as unknown as CallOptions));
    expect(found).toEqual(await settle((procedure as unknown as (all: typeof options) => Promise<unknown>)(options)));
    // `as`: the entries have the same keys.
    expect(found).toMatchObject(outcomes[name as keyof typeof procedures] as object);
  });
