/** A store on the S3 server that the variables `S3_TEST_*` name. */
import { systemClock } from '../../src/core/time.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';

const { S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY, S3_TEST_BUCKET } = process.env;

/** Opens the store, with a prefix of its own for `purpose`. Returns null without a server. */
export function openRealS3(purpose: string): ObjectStore | null {
  if (S3_TEST_ENDPOINT === undefined) return null;
  return createS3Store({
    bucket: S3_TEST_BUCKET ?? 'test-bucket',
    region: 'us-east-1',
    clock: systemClock,
    endpoint: S3_TEST_ENDPOINT,
    accessKeyId: S3_TEST_ACCESS_KEY_ID,
    secretAccessKey: S3_TEST_SECRET_ACCESS_KEY,
    forcePathStyle: true,
    prefix: `${purpose}-${crypto.randomUUID()}`,
  });
}
