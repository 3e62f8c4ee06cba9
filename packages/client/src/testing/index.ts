/** A client for tests, which answers itself: what a program imports from `@lynxroom/client/testing`. */
import { createTRPCUntypedClient, TRPCClientError, type TRPCLink } from '@trpc/client';
import { observable } from '@trpc/server/observable';
import { untilAborted } from '../abort.ts';
import { assembleClient } from '../client.ts';
import { createCredential } from '../credential.ts';
import {
  type AppRouter,
  type Client,
  type ErrorCode,
  type FileOperations,
  type Inputs,
  type Issue,
  LynxroomError,
  type Outputs,
} from '../index.ts';
import { handleErrors } from '../procedure-errors.ts';

/** An output, an Error to reject with, or a function of the input that returns one, throws, or returns a promise. */
type Answer<Input, Output> = Output | Error | ((input: Input) => Output | Error | Promise<Output | Error>);

/** A subscription is answered with events, after which it stays open. */
type ProcedureAnswer<Input, Output> = [Output] extends [AsyncIterable<infer Event>]
  ? Answer<Input, Iterable<Event> | AsyncIterable<Event>>
  : Answer<Input, Output>;

type FileName = keyof FileOperations;
/** `exportAccount` has no input. */
type FileInput<Name extends FileName> = Name extends 'exportAccount' ? undefined : Parameters<FileOperations[Name]>[0];

/** What a mocked client answers: `{ labels: { list: { labels: [] } }, upload: ({ name }) => ... }`. */
export type MockAnswers = {
  [Router in keyof Inputs]?: {
    [Name in keyof Inputs[Router]]?: Name extends keyof Outputs[Router]
      ? ProcedureAnswer<Inputs[Router][Name], Outputs[Router][Name]>
      : never;
  };
} & { [Name in FileName]?: Answer<FileInput<Name>, Awaited<ReturnType<FileOperations[Name]>>> };

type ProcedureCall = {
  [Router in keyof Inputs & string]: {
    [Name in keyof Inputs[Router] & string]: { operation: `${Router}.${Name}`; input: Inputs[Router][Name] };
  }[keyof Inputs[Router] & string];
}[keyof Inputs & string];

/** A call that was made. `operation`, such as `labels.create` or `upload`, determines the type of `input`. */
export type MockCall = ProcedureCall | { [Name in FileName]: { operation: Name; input: FileInput<Name> } }[FileName];

export type MockClient = Client & {
  /** The calls that were made, in their order. */
  readonly calls: readonly MockCall[];
};

const FILE_OPERATIONS: readonly FileName[] = [
  'upload',
  'uploadRecording',
  'setPoster',
  'setRecordingPoster',
  'setLogo',
  'importContacts',
  'exportContacts',
  'exportAccount',
  'exportPerson',
];

/**
 * Creates a client that sends nothing and gives these answers. A call of any other operation rejects with an error that
 * names the operation. Answers may be added later: `answers.labels = { list: ... }`.
 */
export function createMockClient(answers: MockAnswers = {}): MockClient {
  const calls: MockCall[] = [];
  const answer = async (operation: string, input: unknown): Promise<unknown> => {
    // `as`: the proxy calls any name, and the types of the answers say which there are.
    calls.push({ operation, input } as MockCall);
    const found = operation
      .split('.')
      .reduce<unknown>((parent, name) => (parent as Record<string, unknown> | undefined)?.[name], answers);
    if (found === undefined) throw new Error(`${operation} is not mocked: createMockClient got no answer for it`);
    const result: unknown = await (typeof found === 'function' ? found(input) : found);
    if (result instanceof Error) throw result;
    return result;
  };
  const files = FILE_OPERATIONS.map((name) => [
    name,
    (...[input, options]: [unknown, { signal?: AbortSignal }?]) => {
      const hasInput = name !== 'exportAccount';
      // `as`: the only argument of `exportAccount` has the options.
      const { signal } = (hasInput ? options : (input as typeof options)) ?? {};
      return untilAborted(signal, () => answer(name, hasInput ? input : undefined));
    },
  ]);
  const untyped = createTRPCUntypedClient<AppRouter>({
    links: [handleErrors(createCredential(undefined)), answerWith(answer)],
  });
  // `as`: the list has every file operation.
  const client = assembleClient(untyped, Object.fromEntries(files) as FileOperations);
  return new Proxy(client, {
    get: (target, name, receiver) => (name === 'calls' ? calls : Reflect.get(target, name, receiver)),
  }) as MockClient;
}

/** Creates an error of the service, as calls reject with it: `isLynxroomError` holds. */
export function createMockError(
  status: number,
  code: ErrorCode,
  { message = code, issues = [] }: { message?: string; issues?: readonly Issue[] } = {},
): LynxroomError {
  return LynxroomError.ofResponse(status, { code, message, issues, request_id: 'mocked' });
}

type Answering = (operation: string, input: unknown) => Promise<unknown>;

function answerWith(answer: Answering): TRPCLink<AppRouter> {
  return () =>
    ({ op: { type, path, input } }) =>
      observable((observer) => {
        let isOpen = true;
        const run = async (): Promise<void> => {
          const result = await answer(path, input);
          if (type !== 'subscription') {
            observer.next({ result: { data: result } });
            return observer.complete();
          }
          observer.next({ result: { type: 'started' } });
          // `as`: the types of the answers say so.
          for await (const event of result as AsyncIterable<{ id: string }>) {
            if (!isOpen) return;
            observer.next({ result: { type: 'data', id: event.id, data: event } });
          }
        };
        // `as`: it also converts what is no Error.
        run().catch((reason: unknown) => observer.error(TRPCClientError.from(reason as Error)));
        return () => {
          isOpen = false;
        };
      });
}
