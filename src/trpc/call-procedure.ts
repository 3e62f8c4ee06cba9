/** Calls procedures without tRPC's proxies and adapters. */
import {
  type AnyTRPCProcedure,
  type AnyTRPCRouter,
  callTRPCProcedure,
  TRPCError,
  type TRPCRouterRecord,
} from '@trpc/server';
import type { z } from 'zod';
import type { AppError } from '../core/errors.ts';
import { type BodyLimits, bodyLimitsOf } from './body-limits.ts';
import type { CallContext, Context, Meta } from './context.ts';
import { deprecationHeaders } from './deprecation.ts';
import { fromTrpcError, fromUnexpected } from './errors.ts';
import type { RawInput } from './raw-input.ts';

export type Procedure = {
  /** Whether it only reads. */
  isQuery: boolean;
  /** Whether its result is a stream: see subscription.ts. */
  isSubscription: boolean;
  body: BodyLimits;
  /** Headers of its responses besides the common ones, or null if there are none. */
  headers: Record<string, string> | null;
  /** Runs the checks of the procedure, then its function. Rejects with an error from the catalogue. */
  call(context: Context, input: RawInput): Promise<unknown>;
};

/** The procedures of `router` by name, such as `labels.create`. */
export function listProcedures(router: AnyTRPCRouter): Map<string, Procedure> {
  return new Map(proceduresOf(router).map(([name, procedure]) => [name, toProcedure(router, name, procedure)]));
}

/** The names and procedures of `router`, such as `labels.create`. */
export function proceduresOf(router: AnyTRPCRouter): [string, AnyTRPCProcedure][] {
  // Besides these two, a router has its procedures and its sub-routers as properties.
  const { _def, createCaller, ...record } = router;
  return flatten(record);
}

function flatten(record: TRPCRouterRecord): [string, AnyTRPCProcedure][] {
  return Object.entries(record).flatMap(([name, value]): [string, AnyTRPCProcedure][] => {
    if (isProcedure(value)) return [[name, value]];
    return flatten(value).map(([inner, procedure]) => [`${name}.${inner}`, procedure]);
  });
}

function isProcedure(value: TRPCRouterRecord[string]): value is AnyTRPCProcedure {
  return typeof value === 'function';
}

/** The schemas of the inputs of a procedure, in the order in which they are checked. */
export function inputsOf(procedure: AnyTRPCProcedure): readonly z.ZodType[] {
  // `as`: tRPC takes the schemas of many libraries, and ours are zod's.
  return procedure._def.inputs as z.ZodType[];
}

function toProcedure(router: AnyTRPCRouter, path: string, procedure: AnyTRPCProcedure): Procedure {
  const { meta } = procedure;
  const { type } = procedure._def;
  // tRPC does not preserve the type of our metadata in this record.
  const known = (meta ?? {}) as Meta;
  const { deprecated, noStore } = known;
  const headers = {
    ...(deprecated && deprecationHeaders(deprecated)),
    ...(noStore && { 'cache-control': 'private, no-store' }),
  };
  const inputs = inputsOf(procedure).length;
  return {
    isQuery: type === 'query',
    isSubscription: type === 'subscription',
    body: bodyLimitsOf(known),
    headers: Object.keys(headers).length > 0 ? headers : null,
    async call(context, input) {
      const ctx: CallContext = { ...context, readInput: input.read };
      const getRawInput = readForValidation(input, inputs);
      try {
        return await callTRPCProcedure({ router, path, type, ctx, getRawInput, signal: undefined, batchIndex: 0 });
      } catch (error) {
        throw toFailure(error);
      }
    },
  };
}

/** Returns a function that reads the input. tRPC calls it once for each schema. The last call drops the input. */
function readForValidation(input: RawInput, schemas: number): RawInput['read'] {
  let left = schemas;
  return async () => {
    const value = await input.read();
    left -= 1;
    if (left === 0) input.drop();
    return value;
  };
}

function toFailure(error: unknown): AppError {
  return error instanceof TRPCError ? fromTrpcError(error) : fromUnexpected(error);
}
