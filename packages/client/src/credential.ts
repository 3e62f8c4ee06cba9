/** The credential of a client. A call that was refused with it is repeated once if there is another. */
import { untilAborted } from './abort.ts';
import { isLynxroomError, type LynxroomError } from './errors.ts';

export type TokenOptions = {
  /** Whether the service has refused the token that was returned last, or a call without one. */
  isRefused: boolean;
};

/** A token, or a function that returns the current one. */
export type TokenSource =
  | string
  | undefined
  | ((options: TokenOptions) => string | undefined | Promise<string | undefined>);

/** Headers, or a function that returns the current ones. */
export type HeaderSource = GivenHeaders | (() => GivenHeaders | Promise<GivenHeaders>);
type GivenHeaders = Readonly<Record<string, string>>;

type CredentialOptions = {
  headers?: HeaderSource | undefined;
  onUnauthorized?: ((error: LynxroomError) => void) | undefined;
};

/**
 * One attempt of a call. `renewed` is the token to send, `token` the one that was sent, and `sentAfter` how many
 * renewals had ended by then.
 */
export type Attempt = { token?: string | undefined; renewed?: string | undefined; sentAfter?: number };

type CallSettings = {
  /** The credential of this call alone, which is not asked for again. */
  token?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Whether the request can be sent a second time. Default: true. */
  isRepeatable?: boolean;
};

export type Credential = {
  /** Resolves with the headers of a request, which has one or several calls. */
  authorize(...attempts: Attempt[]): Promise<Record<string, string>>;
  /**
   * Resolves with another token than the refused one, or undefined if there is none. The program is asked once for all
   * calls that were refused with one token, and for each call without one.
   */
  renew(refused: Attempt): Promise<string | undefined>;
  /** Tells the program if the error is about its credential, and returns the error. */
  report<Reason>(error: Reason): Reason;
  /**
   * Calls `send` with the headers, and again if it rejects because the credential was refused and there is another.
   * Rejects with the signal's reason as soon as it is aborted.
   */
  call<Result>(send: (headers: Record<string, string>) => Promise<Result>, settings: CallSettings): Promise<Result>;
};

/** How many refused tokens are remembered with those that replaced them. */
const MAX_ENDED = 20;

export function createCredential(
  source: TokenSource,
  { headers = {}, onUnauthorized }: CredentialOptions = {},
): Credential {
  /** By the refused token, because a function on a server may return a token of another person for each call. */
  const renewals = new Map<string, Promise<string | undefined>>();
  /** The last ones that have ended, and how many had ended by then. */
  const ended = new Map<string, { renewed: string | undefined; count: number }>();
  let endedCount = 0;
  const ask = async (isRefused: boolean): Promise<string | undefined> =>
    typeof source === 'function' ? source({ isRefused }) : source;

  const toHeaders = async (token: string | undefined): Promise<Record<string, string>> => ({
    // In lower case, as those of the client.
    ...Object.fromEntries(new Headers(typeof headers === 'function' ? await headers() : headers)),
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  });
  const authorize: Credential['authorize'] = async (...attempts) => {
    // One that is sent again is alone in its request.
    const token = attempts[0]?.renewed ?? (await ask(false));
    for (const attempt of attempts) Object.assign(attempt, { token, renewed: undefined, sentAfter: endedCount });
    return toHeaders(token);
  };
  const startRenewal = (token: string): Promise<string | undefined> => {
    const renewal = ask(true)
      .then((renewed) => {
        endedCount += 1;
        ended.delete(token);
        ended.set(token, { renewed, count: endedCount });
        const [oldest] = ended.keys();
        if (oldest !== undefined && ended.size > MAX_ENDED) ended.delete(oldest);
        return renewed;
      })
      .finally(() => renewals.delete(token));
    renewals.set(token, renewal);
    return renewal;
  };
  const renew: Credential['renew'] = async ({ token, sentAfter = 0 }) => {
    // Calls without a token may be those of different people.
    if (token === undefined) return ask(true);
    const last = ended.get(token);
    // Another call with this token has got a new one since this one was sent.
    const isKnown = last !== undefined && last.count > sentAfter;
    const renewed = isKnown ? last.renewed : await (renewals.get(token) ?? startRenewal(token));
    return renewed === token ? undefined : renewed;
  };
  const report: Credential['report'] = (error) => {
    if (isUnauthorized(error)) onUnauthorized?.(error);
    return error;
  };

  return {
    authorize,
    renew,
    report,
    call: <Result>(
      send: (headers: Record<string, string>) => Promise<Result>,
      { token, signal, isRepeatable = true }: CallSettings,
    ) =>
      untilAborted(signal, async () => {
        const start = (headers: Record<string, string>): Promise<Result> => {
          // Node's fetch causes an unhandled rejection if it is called with a form and an aborted signal.
          signal?.throwIfAborted();
          return send(headers);
        };
        if (token !== undefined) return start(await toHeaders(token));
        const attempt: Attempt = {};
        try {
          try {
            return await start(await authorize(attempt));
          } catch (error) {
            const renewed = isRepeatable && isUnauthorized(error) ? await renew(attempt) : undefined;
            if (renewed === undefined) throw error;
            return await start(await toHeaders(renewed));
          }
        } catch (error) {
          throw report(error);
        }
      }),
  };
}

export function isUnauthorized(error: unknown): error is LynxroomError {
  return isLynxroomError(error) && error.code === 'UNAUTHORIZED';
}
