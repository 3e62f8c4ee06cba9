/** The tests of clients that generators make from the OpenAPI document: `npm run test:generated-clients`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/generated-clients/*.test.ts'],
    // Limits for a test that hangs. A test on a busy machine must not reach them.
    testTimeout: 120_000,
    hookTimeout: 300_000,
  },
});
