/** The examples of the document. They were recorded from the running service: see test/openapi/examples.test.ts. */
import { readFileSync } from 'node:fs';
import type { Problem } from '../core/problem.ts';

export type ExampleError = Pick<Problem, 'message' | 'code' | 'issues'>;

/** A successful call of an operation, and the errors that it can return. */
export type Example = {
  /** Path, query and JSON body in one object. */
  input: Readonly<Record<string, unknown>>;
  response: unknown;
  /** By HTTP status. */
  errors: Readonly<Record<string, readonly ExampleError[]>>;
};

/** By the name of the operation, such as `labels.create`. */
export function readExamples(): Record<string, Example> {
  return JSON.parse(readFileSync(new URL('../../docs/openapi-examples.json', import.meta.url), 'utf8'));
}

/** The fields of an input that are not in the path. */
export function bodyOf(input: Example['input'], path: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !path.includes(`{${name}}`)));
}
