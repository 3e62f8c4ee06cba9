import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { requireSetup } from './src/runtime/prepare-modules.ts';
import { LongestFirst } from './test/support/longest-first.ts';

requireSetup();

// Half of them wait at any time: for PostgreSQL, for time-outs, or for processes that start.
const WORKERS_PER_CORE = 1.5;

// Each worker clones databases and opens up to 50 connections. PostgreSQL has 400, see test/support/global-setup.ts.
const MAX_WORKERS = 8;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // Most install packages from the registry, and the last one calls an installation: see docs/development.md.
    exclude: [
      ...configDefaults.exclude,
      'test/console/journeys/**',
      'test/consumer/**',
      'test/generated-clients/**',
      'test/acceptance/black-box.test.ts',
    ],
    globalSetup: ['test/support/global-setup.ts'],
    // Workers share nothing but the template database, so a worker loads each module once for all its files.
    isolate: false,
    pool: 'forks',
    maxWorkers: Math.min(Math.max(Math.ceil(availableParallelism() * WORKERS_PER_CORE), 2), MAX_WORKERS),
    sequence: { sequencer: LongestFirst },
    // Limits for a test that hangs. A test on a busy machine must not reach them.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
