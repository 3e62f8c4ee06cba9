/** The operations of one workspace, whose input needs no `id`. */
import { createTRPCClientProxy, type TRPCClient, type TRPCUntypedClient } from '@trpc/client';
import type { AppRouter } from './contract.ts';

/** The input of an operation of a workspace; never for other operations. */
type Rest<Input> = Input extends { id: number } ? Omit<Input, 'id'> : never;
type Optional<Input> = Record<never, never> extends Input ? [input?: Input] : [input: Input];

type Bound<Input, Options, Answer> = [Rest<Input>] extends [never]
  ? never
  : (...args: [...Optional<Rest<Input>>, options?: Options]) => Answer;

type BoundOperation<Operation> = Operation extends {
  query(input: infer Input, options?: infer Options): infer Answer;
}
  ? { query: Bound<Input, Options, Answer> }
  : Operation extends { mutate(input: infer Input, options?: infer Options): infer Answer }
    ? { mutate: Bound<Input, Options, Answer> }
    : never;

type BoundOperations<Operations> = {
  [Name in keyof Operations as BoundOperation<Operations[Name]> extends
    | { query: (...args: never[]) => unknown }
    | { mutate: (...args: never[]) => unknown }
    ? BoundOperation<Operations[Name]> extends { query: never } | { mutate: never }
      ? never
      : Name
    : never]: BoundOperation<Operations[Name]>;
};

/** The queries and mutations whose input has `id`, the ID of a workspace. */
export type WorkspaceClient = {
  [Router in keyof TRPCClient<AppRouter>]: BoundOperations<TRPCClient<AppRouter>[Router]>;
};

export function bindWorkspace(untyped: TRPCUntypedClient<AppRouter>, id: number): WorkspaceClient {
  // `as`: the input of each of these operations is an object.
  const bound: Pick<typeof untyped, 'query' | 'mutation'> = {
    query: (path, input, options) => untyped.query(path, { ...(input as object), id }, options),
    mutation: (path, input, options) => untyped.mutation(path, { ...(input as object), id }, options),
  };
  // `as`: the proxy calls nothing else, and only the type leaves out what cannot be called.
  return createTRPCClientProxy(bound as typeof untyped) as unknown as WorkspaceClient;
}
