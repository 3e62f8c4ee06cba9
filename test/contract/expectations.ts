/** What the tests of the contract's rows ask of every answer. */
import { expect } from 'vitest';
import type { Answer } from '../support/http.ts';

/** The names of the fields, sorted. */
export const fields = (value: object): string[] => Object.keys(value).sort();

/** Whether it is an integer Unix timestamp of about now, in seconds. */
export const isUnixSeconds = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value - Date.now() / 1000) < 600;

export const expectError = (answer: Answer, status: number, message: string): void => {
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ error: message, message });
};
