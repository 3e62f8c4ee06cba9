/** The contract against a running installation: `npm run acceptance`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/acceptance/black-box.test.ts'],
    maxConcurrency: 4,
    // A call may wait for a rate limit that counts minutes.
    testTimeout: 10 * 60_000,
    hookTimeout: 10 * 60_000,
  },
});
