/**
 * Starts the longest test files first. Otherwise a worker still runs such a file when the others have finished. Most of
 * these files wait for time-outs or for processes that start, and the other workers use the processor meanwhile.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files of each command that take longest on two cores, longest first. */
const longFiles = [
  'test/console/journeys/meeting-of-six.test.ts',
  'test/console/journeys/films.test.ts',
  'test/console/journeys/recorder.test.ts',
  'test/console/journeys/recorders.test.ts',
  'test/console/journeys/sweep.test.ts',
  'test/console/journeys/meetings.test.ts',
  'test/console/journeys/meeting-page.test.ts',
  'test/console/journeys/public.test.ts',
  'test/docs/snippets.test.ts',
  'test/contract/matrix/rest.test.ts',
  'test/runtime/start.test.ts',
  'test/contract/matrix/trpc.test.ts',
  'test/cli/operator-commands.test.ts',
  'test/uploads/interruptions.test.ts',
  'test/webhook-delivery/crash.test.ts',
  'test/storage/s3-store.test.ts',
  'test/runtime/stop-without-database.test.ts',
  'test/acceptance/acceptance.test.ts',
  'test/media-jobs/media-jobs.test.ts',
  'test/runtime/upgrade.test.ts',
  'test/runtime/database-checks.test.ts',
  'test/webhook-delivery/workers.test.ts',
  'test/backup/backup.test.ts',
  'test/db/dead-connections.test.ts',
  'test/idempotency/kill.test.ts',
  'test/storage/store-id.test.ts',
  'test/webhook-delivery/order.test.ts',
  'test/cli/api-commands.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/runtime/npm-start.test.ts',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

function rankOf({ moduleId }: TestSpecification): number {
  const index = longFiles.findIndex((path) => moduleId.endsWith(`/${path}`));
  return index === -1 ? longFiles.length : index;
}
