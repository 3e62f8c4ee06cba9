/** The S3 server that the variables `S3_TEST_*` name, and a store on it. */
import { systemClock } from '../../src/core/time.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { createS3Store, type S3StoreOptions } from '../../src/storage/s3-store.ts';

const { S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID, S3_TEST_SECRET_ACCESS_KEY, S3_TEST_BUCKET } = process.env;

/** Returns the options of a store with a prefix of its own, apart from those of others. Null without a server. */
export function realS3Options(purpose: string): S3StoreOptions | null {
  if (S3_TEST_ENDPOINT === undefined) return null;
  return {
    bucket: S3_TEST_BUCKET ?? 'test-bucket',
    region: 'us-east-1',
    clock: systemClock,
    endpoint: S3_TEST_ENDPOINT,
    accessKeyId: S3_TEST_ACCESS_KEY_ID,
    secretAccessKey: S3_TEST_SECRET_ACCESS_KEY,
    forcePathStyle: true,
    prefix: `${purpose}-${crypto.randomUUID()}`,
  };
}

/** Opens a store with a prefix of its own for `purpose`. Returns null without a server. */
export function openRealS3(purpose: string): ObjectStore | null {
  const options = realS3Options(purpose);
  return options && createS3Store(options);
}
