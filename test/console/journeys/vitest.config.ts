/** The console in a browser, which `npm test` leaves out: `npm run test:console`. */
import { defineConfig } from 'vitest/config';
import { LongestFirst } from '../../support/longest-first.ts';

export default defineConfig({
  test: {
    include: ['test/console/journeys/**/*.test.ts'],
    globalSetup: ['test/console/journeys/support/global-setup.ts'],
    // One browser for all files of a worker.
    isolate: false,
    pool: 'forks',
    // Meetings decode pictures for as long as they last: more of them at a time cost more than they save.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    // Limits for a test that hangs. A test on a busy machine must not reach them.
    testTimeout: 600_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
