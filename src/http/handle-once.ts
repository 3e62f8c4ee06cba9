/** Carries out a raw operation only once per `Idempotency-Key`. */
import { AppError } from '../core/errors.ts';
import { beginCall, type KeyOwner } from '../trpc/idempotency.ts';
import type { BodyOf, RawCall, RawOperation, RawRequest } from '../trpc/raw-operation.ts';
import { hashBody } from './hash-body.ts';

type Body = BodyOf<RawRequest>;

/**
 * Calls `handle` with the body. If an earlier request had the same key and the same body, returns its result instead. A
 * repeated body is read completely before the response, because the comparison needs all of it.
 */
export async function handleOnce(
  { name, request }: RawOperation,
  { context, params }: RawCall,
  { key, owner, body }: { key: string; owner: KeyOwner; body: Body },
  handle: (body: Body) => Promise<object>,
): Promise<object> {
  const hashed = hashBody(request, body);
  const call = { key, owner, operation: name, input: params, checksRoles: false, hashBody: hashed.hash };
  const begun = await beginCall(context, call);
  if ('replay' in begun) {
    await hashed.read();
    begun.requireSameBody(hashed.hash());
    // `as`: an operation of this kind returns an object.
    return begun.replay() as object;
  }
  try {
    const data = await handle(hashed.body);
    await begun.settle({ data });
    return data;
  } catch (error) {
    await begun.settle(error instanceof AppError ? { refusal: error } : { failure: error });
    throw error;
  }
}
