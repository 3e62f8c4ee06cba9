/** What the tests of the contract's rows ask of every answer. */
import { expect } from 'vitest';
import type { Answer } from '../support/http.ts';

/** The names of the fields, sorted. */
export function fields(value: object): string[] {
  return Object.keys(value).sort();
}

/** Whether it is an integer Unix timestamp of about now, in seconds. */
export function isUnixSeconds(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value - Date.now() / 1000) < 600;
}

export function expectError(answer: Answer, status: number, message: string): void {
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ error: message, message });
}
