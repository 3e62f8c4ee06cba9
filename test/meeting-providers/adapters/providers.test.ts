import { expect, test } from 'vitest';
import { z } from 'zod';
import { AppError, statusOf } from '../../../src/core/errors.ts';
import {
  credentialsSchemas,
  providerKinds,
  providers,
} from '../../../src/features/meeting-providers/adapters/index.ts';
import {
  MalformedCallback,
  UnverifiedCallback,
} from '../../../src/features/meeting-providers/adapters/provider-adapter.ts';

test('each provider has an adapter and a schema of credentials', () => {
  expect(Object.keys(providers).sort()).toEqual([...providerKinds].sort());
  expect(Object.keys(credentialsSchemas).sort()).toEqual([...providerKinds].sort());
});

test('each field of the credentials has a description', () => {
  for (const shape of Object.values(credentialsSchemas)) {
    for (const field of Object.values(z.toJSONSchema(shape).properties ?? {})) {
      expect(field).toHaveProperty('description');
    }
  }
});

test('refusals are 401 and 400 of the error catalogue', () => {
  for (const [refusal, status] of [
    [new UnverifiedCallback('x'), 401],
    [new MalformedCallback('x'), 400],
  ] as const) {
    expect(refusal).toBeInstanceOf(AppError);
    expect(statusOf[refusal.code]).toBe(status);
  }
});
