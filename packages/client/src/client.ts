/** Creates the client of a service. Its operations are tRPC procedures, except those that send or receive files. */
import {
  createTRPCClientProxy,
  createTRPCUntypedClient,
  httpBatchLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
  type TRPCLink,
  type TRPCUntypedClient,
} from '@trpc/client';
import type { AppRouter } from './contract.ts';
import { createCredential, type HeaderSource, type TokenSource } from './credential.ts';
import type { LynxroomError } from './errors.ts';
import { type EventSourceOptions, FetchEventSource } from './event-source.ts';
import { createFileOperations, type FileOperations } from './file-operations.ts';
import { addKeys, createKey } from './idempotency-keys.ts';
import { type Pagination, paginate } from './paginate.ts';
import { attemptsOf, handleErrors } from './procedure-errors.ts';
import type { UploadMemory } from './resumable-upload.ts';
import { repeatLost } from './retry.ts';
import { bindWorkspace, type WorkspaceClient } from './workspace.ts';

/** The maximum number of calls that the server accepts in one request. */
const MAX_BATCH = 50;
/** Longer URLs are split into several requests: servers and proxies commonly refuse more than 8 kB. */
const MAX_URL_LENGTH = 6_000;

export type RetryOptions = {
  /**
   * How often a request is sent again whose answer was lost: if the connection fails, and after 408, 429, 502, 503 and
   * 504. A write is sent with the same idempotency key, and so carried out once. Default: 0.
   */
  times?: number;
  /**
   * For user interfaces: a mutation that is called again with the same input, within 15 minutes after its answer was
   * lost, repeats the lost call, so that pressing a button again does nothing twice. After another mutation has
   * succeeded, it is a new call. Default: every call is a new one.
   */
  acrossCalls?: boolean;
};

export type ClientOptions = {
  /** Base URL of the service, such as `https://api.example.com`. */
  url: string;
  /**
   * A session token or an API key, or a function that returns the current one, or a promise of it. After the service
   * has refused its token, the function is called once more with `isRefused`, also for several calls at once. If it
   * then returns another token, each of the calls is repeated once, except an upload of a FileStream. If it throws, so
   * does the call. Without a token, a browser sends the session cookie if the page has the same origin as the service.
   */
  token?: TokenSource;
  /**
   * Whether a browser sends the session cookie: by default to the page's own origin only. With `include`, also to a
   * service on another origin of the same site, which must name the page's origin in CORS_ORIGINS.
   */
  credentials?: NonNullable<RequestInit['credentials']>;
  /**
   * Called when the service refuses the session or the API key of the client, or gets none and needs one, and `token`
   * returns no other that it accepts: show the sign-in page. It is not called for a wrong password or code, nor for a
   * wrong `uploadToken`.
   */
  onUnauthorized?: (error: LynxroomError) => void;
  /** Which calls are repeated after their answer was lost. Default: none. */
  retry?: RetryOptions;
  /** Other headers of each request, or a function that returns them. Those of the client itself replace them. */
  headers?: HeaderSource;
  /** tRPC links that each procedure passes once, however often it is sent. They see its LynxroomError. */
  links?: readonly TRPCLink<AppRouter>[];
  /**
   * Where the URLs of uploads that are under way are remembered, so that a program that starts again can continue them.
   * Default: `localStorage` in browsers, and otherwise only this client.
   */
  uploads?: UploadMemory;
  /** Replaces the global `fetch`, except for uploads from a browser that report their progress. */
  fetch?: typeof globalThis.fetch;
};

export type Client = TRPCClient<AppRouter> &
  FileOperations &
  Pagination & {
    /** The queries and mutations of one workspace: `client.workspace(1).labels.list.query()`. */
    workspace(id: number): WorkspaceClient;
  };

// The `fetch` type of tRPC differs from the platform's in how it declares an absent signal.
type TrpcFetch = NonNullable<Parameters<typeof httpBatchLink<AppRouter>>[0]['fetch']>;

/** Creates a client of the service at `url`, which sends `token` with every request. */
export function createClient(options: ClientOptions): Client {
  const { url, token, credentials = 'same-origin', fetch = globalThis.fetch } = options;
  const { onUnauthorized, headers, links = [], uploads = defaultMemory() } = options;
  const { times = 0, acrossCalls = false } = options.retry ?? {};
  const baseUrl = url.replace(/\/+$/, '');
  const credential = createCredential(token, { headers, onUnauthorized });
  const { authorize } = credential;
  const send = times > 0 ? repeatLost(fetch, times) : fetch;
  // Without a credential, it tells this client apart from others that send the same idempotency key.
  const secret = createKey();
  const identify = ({ idempotencyKey: key }: { idempotencyKey?: unknown }): Record<string, string> => ({
    'idempotency-key': typeof key === 'string' ? key : createKey(),
    'idempotency-secret': secret,
  });

  const trpcOptions = {
    url: `${baseUrl}/trpc`,
    // The difference between the types of `fetch` does not matter at run time.
    fetch: ((input: string, init: RequestInit) => send(input, { ...init, credentials })) as TrpcFetch,
  };
  const untyped = createTRPCUntypedClient<AppRouter>({
    links: [
      addKeys({ repeatsLost: acrossCalls }),
      ...links,
      handleErrors(credential),
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: httpSubscriptionLink({
          url: trpcOptions.url,
          EventSource: FetchEventSource,
          eventSourceOptions: ({ op }): EventSourceOptions => ({
            fetch,
            credentials,
            headers: () => authorize(...attemptsOf([op])),
          }),
        }),
        false: splitLink({
          // Neither a call with an idempotency key is batched, nor one that is sent again with a token of its own: the
          // tokens of two calls may be those of two people.
          condition: (op) => hasKey(op) || attemptsOf([op]).some(({ renewed }) => renewed !== undefined),
          true: httpLink({
            ...trpcOptions,
            headers: async ({ op }) => ({
              ...(await authorize(...attemptsOf([op]))),
              ...(hasKey(op) && identify(op.context)),
            }),
          }),
          false: httpBatchLink({
            ...trpcOptions,
            maxItems: MAX_BATCH,
            maxURLLength: MAX_URL_LENGTH,
            headers: ({ opList }) => authorize(...attemptsOf(opList)),
          }),
        }),
      }),
    ],
  });
  const { call } = credential;
  return assembleClient(untyped, createFileOperations({ baseUrl, call, identify, credentials, fetch, send, uploads }));
}

function hasKey({ context }: { context: Record<string, unknown> }): boolean {
  return typeof context.idempotencyKey === 'string';
}

/** Adds the other operations to those of tRPC. */
export function assembleClient(untyped: TRPCUntypedClient<AppRouter>, files: FileOperations): Client {
  // tRPC wraps the reason of a signal.
  for (const type of ['query', 'mutation'] as const) {
    const call = untyped[type].bind(untyped);
    untyped[type] = (path, input, options) =>
      call(path, input, options).catch((error: unknown) => {
        options?.signal?.throwIfAborted();
        throw error;
      });
  }
  const own = { ...files, paginate, workspace: (id: number) => bindWorkspace(untyped, id) };
  // The tRPC client is a proxy that treats any property as a router, so its own operations are looked up first. The
  // assertion adds them to the type of the proxy, which TypeScript takes from the target.
  return new Proxy(createTRPCClientProxy(untyped), {
    get: (target, name, receiver) => Reflect.get(Object.hasOwn(own, name) ? own : target, name, receiver),
  }) as Client;
}

/** Where uploads are remembered, if the options name no other place. Some browsers refuse access to their storage. */
function defaultMemory(): UploadMemory {
  const urls = new Map<string, string>();
  const withStorage = <Result>(use: (storage: WebStorage) => Result): Result | undefined => {
    try {
      // Node has a storage too, which only works with an option. `as`: the types of browsers are not used here.
      const { document, localStorage } = globalThis as { document?: unknown; localStorage?: WebStorage };
      return document !== undefined && localStorage !== undefined ? use(localStorage) : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    get: (key) => urls.get(key) ?? withStorage((storage) => storage.getItem(key)),
    set(key, url) {
      urls.set(key, url);
      withStorage((storage) => storage.setItem(key, url));
    },
    delete(key) {
      urls.delete(key);
      withStorage((storage) => storage.removeItem(key));
    },
  };
}

type WebStorage = {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
};
