/** One call of an operation over REST or over tRPC, with an outcome that can be compared. */

import { expect } from 'vitest';
import { appRouter } from '../../src/routers/index.ts';
import { proceduresOf } from '../../src/trpc/call-procedure.ts';
import type { RawOperation } from '../../src/trpc/raw-operation.ts';
import { operations, rawOperations } from '../support/api.ts';
import { type CallOptions, createHttp } from '../support/http.ts';
import type { TestApp } from '../support/test-app.ts';

export type Input = Record<string, unknown>;

/** The body of a raw operation, with its headers. */
export type Content = Pick<CallOptions, 'body' | 'headers'>;

export type Call = {
  name: string;
  token?: string | undefined;
  input: Input;
  /** For raw operations only. */
  content?: Content;
  headers?: Readonly<Record<string, string>>;
};

/** What a caller gets over either transport: the status, and the result or the error body. */
export type Outcome = { status: number; body: unknown; challenge: string | null };

/** What a transport needs: also an installation that is no application of this process has it. */
export type Served = Pick<TestApp, 'http' | 'url'>;

export type Transport = (app: Served, call: Call) => Promise<Outcome>;

export const transports: readonly [string, Transport][] = [
  ['REST', viaRest],
  ['tRPC', viaTrpc],
];

type ServedOperation = {
  method: string;
  /** As OpenAPI writes it: `/api/workspaces/{id}`. */
  path: string;
  takesBody: boolean;
  /** The status of success over REST. */
  status: number;
};

const procedureOperations = new Map(operations.map((operation) => [operation.name, operation]));
const rawOperationsByName = new Map(rawOperations.map((operation) => [operation.name, operation]));

/** Throws if there is neither a procedure nor a raw operation of that name. */
export function findOperation(name: string): ServedOperation {
  const operation = procedureOperations.get(name);
  if (operation) return operation;
  const raw = findRawOperation(name);
  if (!raw) throw new Error(`No operation ${name}`);
  return { ...raw, takesBody: false, status: raw.response.kind === 'empty' ? raw.response.status : 200 };
}

export function findRawOperation(name: string): RawOperation | undefined {
  return rawOperationsByName.get(name);
}

/** Whether the operation is served over the transport. Raw operations are served over REST only. */
export function isServed(name: string, transport: Transport): boolean {
  return transport === viaRest || !rawOperationsByName.has(name);
}

const procedures = new Map(proceduresOf(appRouter));

export function isQuery(name: string): boolean {
  return findRawOperation(name)?.method === 'GET' || procedures.get(name)?._def.type === 'query';
}

/** Calls the REST path of the operation. Every response is checked against the OpenAPI document. */
export async function viaRest(app: Served, { name, token, input, content, headers: own }: Call): Promise<Outcome> {
  const { path, json } = restRequest(name, input);
  const request = json === undefined ? content : { json };
  // Without this header, a download redirects.
  const options = { token, ...request, headers: { accept: 'application/json', ...own, ...content?.headers } };
  const { status, body, headers } = await app.http.call(findOperation(name).method, path, options);
  return { status, body, challenge: headers.get('www-authenticate') };
}

const REST_PARAMETER = /\{(\w+)\}/g;

function restRequest(name: string, input: Input): { path: string; json?: Input } {
  const { method, path, takesBody } = findOperation(name);
  const inPath = [...path.matchAll(REST_PARAMETER)].map(([, parameter]) => parameter ?? '');
  const filled = path.replace(REST_PARAMETER, (_, parameter: string) => encodeURIComponent(String(input[parameter])));
  const rest = Object.entries(input).filter(([field]) => !inPath.includes(field));
  if (takesBody) return { path: filled, json: Object.fromEntries(rest) };
  const query = new URLSearchParams(rest.map(([field, value]): [string, string] => [field, String(value)])).toString();
  return { path: method === 'GET' && query !== '' ? `${filled}?${query}` : filled };
}

/**
 * Calls `/trpc/<name>` without a client. Checks the envelope and returns its content. Success is always 200 in tRPC;
 * the outcome has the status of REST.
 */
export async function viaTrpc(app: Served, { name, token, input, headers }: Call): Promise<Outcome> {
  const http = createHttp(app.url);
  const answer = isQuery(name)
    ? await http.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`, { token })
    : await http.call('POST', `/trpc/${name}`, { token, json: input, ...(headers && { headers }) });
  const challenge = answer.headers.get('www-authenticate');
  if (answer.status === 200) {
    expect(Object.keys(answer.body)).toEqual(['result']);
    return { status: findOperation(name).status, body: answer.body.result.data, challenge };
  }
  const { error } = answer.body;
  const { httpStatus, path, ...problem } = error.data;
  expect({ httpStatus, path, message: error.message }).toEqual({
    httpStatus: answer.status,
    path: name,
    message: problem.message,
  });
  return { status: answer.status, body: problem, challenge };
}

const RANDOM_FIELDS = ['request_id', 'token', 'url', 'poster_url', 'full_key', 'key_prefix', 'secret'];

/**
 * The value without the text fields that are random in every operation, and those that are `alsoRandom` in this one.
 */
export function withoutRandomness(value: unknown, alsoRandom: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((entry) => withoutRandomness(entry, alsoRandom));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      [...RANDOM_FIELDS, ...alsoRandom].includes(name)
        ? withoutText(field, name, alsoRandom)
        : withoutRandomness(field, alsoRandom),
    ]),
  );
}

/** The value of a random field: a text, a list of texts, or something else that may have random fields. */
function withoutText(field: unknown, name: string, alsoRandom: readonly string[]): unknown {
  if (typeof field === 'string') return `random ${name}`;
  if (Array.isArray(field)) return field.map((entry) => withoutText(entry, name, alsoRandom));
  return withoutRandomness(field, alsoRandom);
}

/** The body of an error, without the request ID. */
export function problemOf(code: string, message: string, issues?: unknown): Input {
  return {
    error: message,
    message,
    code,
    request_id: 'random request_id',
    ...(issues === undefined ? {} : { issues }),
  };
}
