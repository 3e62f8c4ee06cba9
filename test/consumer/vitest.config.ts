/** The tests that install packages from the registry, which `npm test` does not: `npm run test:consumer`. */
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/consumer/**/*.test.ts'],
    globalSetup: ['test/consumer/global-setup.ts'],
    // Limits for a test that hangs. A test on a busy machine must not reach them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
