/** Calls with the header Idempotency-Key, over either transport. */
import { randomUUID } from 'node:crypto';
import type { Input } from '../contract/transports.ts';
import { type Answer, createHttp } from '../support/http.ts';
import { makePdf } from '../support/media.ts';
import type { TestApp } from '../support/test-app.ts';

export function newKey(): string {
  return randomUUID();
}

/** The status, the result or the error, and whether it was replayed. */
export type Outcome = { status: number; body: Answer['body']; isReplayed: boolean; retryAfter: string | null };

export type KeyedRequest = {
  key?: string;
  /** Tells callers without a token apart. */
  secret?: string | undefined;
  token?: string | undefined;
  json?: Input;
  method?: string;
};

/** Calls a REST path. */
export async function send(
  app: TestApp,
  path: string,
  { key, secret, method = 'POST', token, json }: KeyedRequest = {},
): Promise<Outcome> {
  const headers = headersOf({ key, secret });
  return toOutcome(await app.http.call(method, path, { token, headers, ...(json && { json }) }));
}

/** Calls a procedure over tRPC. */
export async function mutate(
  app: TestApp,
  name: string,
  { key, secret, token, json = {} }: KeyedRequest = {},
): Promise<Outcome> {
  const headers = headersOf({ key, secret });
  const answer = await createHttp(app.url).call('POST', `/trpc/${name}`, { token, headers, json });
  const { result, error } = answer.body;
  return { ...toOutcome(answer), body: result ? result.data : error.data };
}

function headersOf({ key, secret }: { key: string | undefined; secret: string | undefined }): Record<string, string> {
  return {
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(secret !== undefined && { 'idempotency-secret': secret }),
  };
}

export function toOutcome({ status, body, headers }: Answer): Outcome {
  const isReplayed = headers.get('idempotency-replayed') === 'true';
  return { status, body, isReplayed, retryAfter: headers.get('retry-after') };
}

/** Uploads a PDF to the library of a workspace. */
export async function sendFile(
  app: TestApp,
  path: string,
  { key, token, text = 'Hello', name }: { key: string; token: string; text?: string; name?: string },
): Promise<Outcome> {
  const body = new FormData();
  if (name !== undefined) body.append('name', name);
  body.append('file', new Blob([Uint8Array.from(makePdf({ text }))], { type: 'application/pdf' }), 'contract.pdf');
  return toOutcome(
    await app.http.call('POST', `${path}/library`, { token, body, headers: { 'idempotency-key': key } }),
  );
}

/** The stored keys, as PostgreSQL shows them. */
export async function readKeys({ services }: TestApp): Promise<{ key: string; text: string; isExecuted: boolean }[]> {
  return services.db.$queryRaw`
    select key, idempotency_keys::text || coalesce(encode(answer, 'escape'), '') as text,
      is_executed as "isExecuted"
    from idempotency_keys order by created_at`;
}
