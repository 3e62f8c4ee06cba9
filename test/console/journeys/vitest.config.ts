/** The console in a browser, which `npm test` leaves out: `npm run test:console`. */
import { defineConfig } from 'vitest/config';
import { LongestFirst } from '../../support/longest-first.ts';

/** Six browsers that draw and decode each other need all of a machine. */
const largeMeetings = 'test/console/journeys/meeting-of-six.test.ts';

const shared = {
  // One browser for all files of a worker.
  isolate: false,
  pool: 'forks',
  // Limits for a test that hangs. A test on a busy machine must not reach them.
  testTimeout: 600_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
} as const;

export default defineConfig({
  test: {
    // One server for all.
    globalSetup: ['test/console/journeys/support/global-setup.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          ...shared,
          name: 'large meetings',
          include: [largeMeetings],
          maxWorkers: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: 'journeys',
          include: ['test/console/journeys/**/*.test.ts'],
          exclude: [largeMeetings],
          // Meetings decode pictures for as long as they last: more of them at a time cost more than they save.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
