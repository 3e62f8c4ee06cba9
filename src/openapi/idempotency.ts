/** The header Idempotency-Key in the OpenAPI document. */

/** Refers to the parameter, for every operation that takes it. */
export const idempotencyKey = { $ref: '#/components/parameters/IdempotencyKey' };

export const idempotencyParameters = {
  IdempotencyKey: {
    in: 'header',
    name: 'Idempotency-Key',
    required: false,
    description:
      'Carries out the request once, however often it is sent. Repeating the request within 24 hours returns the ' +
      'response to the first one, with `Idempotency-Replayed: true`. Choose a new random key, such as a UUID, for ' +
      'each request, ' +
      'and send the same one when you retry it.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
    example: '0b8f3a3e-5d1c-4c56-9f0e-2b7c1f6f6f0d',
  },
};
