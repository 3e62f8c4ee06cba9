import { expect } from 'vitest';
import type { VerifiedCallback } from '../../../src/features/meeting-providers/adapters/provider-adapter.ts';
import {
  MalformedCallback,
  UnverifiedCallback,
} from '../../../src/features/meeting-providers/adapters/provider-adapter.ts';

/** Returns the error of a callback. Fails if the callback was accepted. */
async function refusalOf(reading: Promise<VerifiedCallback>): Promise<unknown> {
  try {
    await reading;
  } catch (error) {
    return error;
  }
  return expect.fail('The callback was accepted');
}

/** Expects a 401 with this message. */
export async function expectUnverified(reading: Promise<VerifiedCallback>, message: string): Promise<void> {
  const refusal = await refusalOf(reading);
  expect(refusal).toBeInstanceOf(UnverifiedCallback);
  expect(refusal).toMatchObject({ code: 'UNAUTHORIZED', message });
  expect(refusal).not.toHaveProperty('cause');
}

/** Expects a 400 with this message. */
export async function expectMalformed(reading: Promise<VerifiedCallback>, message: string): Promise<void> {
  const refusal = await refusalOf(reading);
  expect(refusal).toBeInstanceOf(MalformedCallback);
  expect(refusal).toMatchObject({ code: 'BAD_REQUEST', message });
  expect(refusal).not.toHaveProperty('cause');
}
