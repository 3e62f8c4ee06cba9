/** Changes that show at once, and are taken back if the service refuses them. */
import {
  type InferDataFromTag,
  type QueryFilters,
  type QueryKey,
  type UseMutationResult,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { showError } from './toasts.ts';

/** The mutation key of all optimistic changes. It tells whether a change is under way. */
export const OPTIMISTIC_KEY = ['optimistic'] as const;

/** The cached answers that a change touches. */
export type Cache = {
  /** Changes the answer with this key, if there is one. */
  update<Key extends QueryKey>(
    key: Key,
    change: (answer: InferDataFromTag<unknown, Key>) => InferDataFromTag<unknown, Key>,
  ): void;
  /** As `update`, for all answers that the filter selects, such as every page of a list with any filter. */
  updateAll<Answer>(filter: QueryFilters, change: (answer: Answer) => Answer): void;
};

export type OptimisticOptions<Input, Output> = {
  /** The call, such as `(input) => client.labels.update.mutate(input)`. */
  mutationFn: (input: Input) => Promise<Output>;
  /** Shows the change in cached answers. They are refetched when the call has ended. */
  apply: (cache: Cache, input: Input) => void;
  /** The message if the change is refused, such as "Could not rename the label". */
  failure: string;
  onSuccess?: (output: Output, input: Input) => void;
};

/** A mutation whose change shows at once. If it is refused, the change is taken back and a message says why. */
export function useOptimisticMutation<Input, Output>({
  mutationFn,
  apply,
  failure,
  onSuccess,
}: OptimisticOptions<Input, Output>): UseMutationResult<Output, Error, Input, () => void> {
  const queryClient = useQueryClient();
  return useMutation({
    mutationKey: OPTIMISTIC_KEY,
    mutationFn,
    async onMutate(input: Input) {
      const before: [QueryKey, unknown][] = [];
      const updateAll: Cache['updateAll'] = (filter, change) => {
        // A read that is under way would bring back the old answer.
        void queryClient.cancelQueries(filter);
        before.push(...queryClient.getQueriesData(filter));
        queryClient.setQueriesData(filter, (answer: unknown) =>
          // `as`: the caller names the type of the answers that the filter selects.
          answer === undefined ? undefined : change(answer as never),
        );
      };
      apply({ updateAll, update: (queryKey, change) => updateAll({ queryKey, exact: true }, change) }, input);
      return () => {
        for (const [key, answer] of before.toReversed()) queryClient.setQueryData(key, answer);
      };
    },
    onError(error, _input, takeBack) {
      takeBack?.();
      showError(failure, error);
    },
    onSuccess,
    onSettled: async (_output, _error, input) => {
      const touched: QueryFilters[] = [];
      apply(
        {
          update: (queryKey) => touched.push({ queryKey, exact: true }),
          updateAll: (filter) => touched.push(filter),
        },
        input,
      );
      await Promise.all(touched.map((filter) => queryClient.invalidateQueries(filter)));
    },
  });
}
