/** One operation through either transport, with answers that can be compared. */

import type { AnyTRPCProcedure } from '@trpc/server';
import { expect } from 'vitest';
import { appRouter } from '../../src/routers/index.ts';
import type { Operation } from '../../src/trpc/operations.ts';
import { operations } from '../support/api.ts';
import { createHttp } from '../support/http.ts';
import type { TestApp } from '../support/test-app.ts';

export type Input = Record<string, unknown>;

/** What a caller learns over either transport: the status and the answer, or the problem. */
export type Outcome = { status: number; body: unknown; challenge: string | null };

export type Call = { name: string; token?: string | undefined; input: Input };

export type Transport = (app: TestApp, call: Call) => Promise<Outcome>;

const operationsByName = new Map(operations.map((operation) => [operation.name, operation]));

export function operationOf(name: string): Operation {
  const operation = operationsByName.get(name);
  if (!operation) throw new Error(`No operation ${name}`);
  return operation;
}

// The record is flat at run time (`labels.create`), which its type does not say.
const procedures = appRouter._def.procedures as unknown as Record<string, AnyTRPCProcedure>;

export function isQuery(name: string): boolean {
  return procedures[name]?._def.type === 'query';
}

const REST_PARAMETER = /\{(\w+)\}/g;

function restRequest({ method, path, takesBody }: Operation, input: Input): { path: string; json?: Input } {
  const inPath = [...path.matchAll(REST_PARAMETER)].map(([, name]) => name ?? '');
  const filled = path.replace(REST_PARAMETER, (_, name: string) => encodeURIComponent(String(input[name])));
  const rest = Object.entries(input).filter(([name]) => !inPath.includes(name));
  if (takesBody) return { path: filled, json: Object.fromEntries(rest) };
  const query = new URLSearchParams(rest.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return { path: method === 'GET' && query !== '' ? `${filled}?${query}` : filled };
}

/** The REST path of the operation; every answer is held against the document on the way. */
export const viaRest: Transport = async (app, { name, token, input }) => {
  const operation = operationOf(name);
  const { path, ...request } = restRequest(operation, input);
  const { status, body, headers } = await app.http.call(operation.method, path, { token, ...request });
  return { status, body, challenge: headers.get('www-authenticate') };
};

/**
 * `/trpc/<name>` without any client: the envelope is checked, and what it holds is returned. Success is 200 there
 * always, and told as REST tells it.
 */
export const viaTrpc: Transport = async (app, { name, token, input }) => {
  const http = createHttp(app.url);
  const answer = isQuery(name)
    ? await http.call('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`, { token })
    : await http.call('POST', `/trpc/${name}`, { token, json: input });
  const challenge = answer.headers.get('www-authenticate');
  if (answer.status === 200) {
    expect(Object.keys(answer.body)).toEqual(['result']);
    return { status: operationOf(name).status, body: answer.body.result.data, challenge };
  }
  const { error } = answer.body;
  const { httpStatus, path, ...problem } = error.data;
  expect({ httpStatus, path, message: error.message }).toEqual({
    httpStatus: answer.status,
    path: name,
    message: problem.message,
  });
  return { status: answer.status, body: problem, challenge };
};

export const transports: readonly [string, Transport][] = [
  ['REST', viaRest],
  ['tRPC', viaTrpc],
];

const RANDOM_FIELDS = ['request_id', 'token', 'url', 'full_key', 'key_prefix', 'secret'];

/** An outcome without the texts that are random in every operation, and those that are `alsoRandom` in this one. */
export function withoutRandomness(value: unknown, alsoRandom: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((entry) => withoutRandomness(entry, alsoRandom));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      typeof field === 'string' && [...RANDOM_FIELDS, ...alsoRandom].includes(name)
        ? `random ${name}`
        : withoutRandomness(field, alsoRandom),
    ]),
  );
}

/** The body that every refusal has, without the id of the request. */
export function problemOf(code: string, message: string, issues?: unknown): Input {
  return {
    error: message,
    message,
    code,
    request_id: 'random request_id',
    ...(issues === undefined ? {} : { issues }),
  };
}
