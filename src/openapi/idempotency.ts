/** The headers Idempotency-Key and Idempotency-Secret in the OpenAPI document. */

/** Refers to the parameter, for every operation that takes it. */
export const idempotencyKey = { $ref: '#/components/parameters/IdempotencyKey' };
export const idempotencySecret = { $ref: '#/components/parameters/IdempotencySecret' };

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
  IdempotencySecret: {
    in: 'header',
    name: 'Idempotency-Secret',
    required: false,
    description:
      'For callers without a credential, beside `Idempotency-Key`: a random value that only this person has, such as ' +
      'a UUID that the page makes when it opens. A repetition with the same key and secret gets the stored response. ' +
      'Without the secret, it gets 409 `IDEMPOTENCY_ANSWER_LOST`, because it may come from somebody else.',
    schema: { type: 'string', minLength: 22, maxLength: 255, pattern: '^[!-~]+$' },
    example: '5f0d9c1e-7a43-4b0e-8d52-c1a8e64b97f2',
  },
};
