/** Checks of responses that the tests of the API contract share. */
import { expect } from 'vitest';
import type { Answer } from '../support/http.ts';

/** The names of the fields, sorted. */
export function fields(value: object): string[] {
  return Object.keys(value).sort();
}

/** Whether the value is an integer Unix timestamp in seconds, within 10 minutes of now. */
export function isUnixSeconds(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value - Date.now() / 1000) < 600;
}

export function expectError(answer: Answer, status: number, message: string): void {
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ error: message, message });
}
