import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3';
import S3rver from 's3rver';

import { systemClock } from '../../src/core/time.ts';
import type { S3StoreOptions } from '../../src/storage/s3-store.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';
import { realS3Options } from '../support/real-s3.ts';
import type { StoreUnderTest } from './object-store.suite.ts';
import { describeObjectStore } from './object-store.suite.ts';

const DEAD_ENDPOINT = 'http://127.0.0.1:9'; // The discard port, on which nothing listens.

async function openS3(options: S3StoreOptions, close: () => Promise<void>): Promise<StoreUnderTest> {
  const store = createS3Store(options);
  const { endpoint = '', region, accessKeyId = '', secretAccessKey = '' } = options;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, credentials, forcePathStyle: true });
  return {
    store,
    origin: 'https://not-used.test',
    broken: {
      'missing bucket': createS3Store({ ...options, bucket: 'no-such-bucket' }),
      'dead endpoint': createS3Store({ ...options, endpoint: DEAD_ENDPOINT }),
    },
    countStaged: async () => {
      const command = new ListMultipartUploadsCommand({ Bucket: options.bucket, Prefix: options.prefix });
      return (await client.send(command)).Uploads?.length ?? 0;
    },
    expire: (seconds) => sleep(seconds * 1000 + 1100),
    close,
  };
}

// It does not verify V4 signatures, implements suffix ranges wrongly, lists by directory, and lacks
// ListMultipartUploads.
const S3RVER = {
  verifiesSignatures: false,
  servesSuffixRanges: false,
  answersHead: true,
  listsUploads: false,
  listsInByteOrder: false,
  sendsNosniff: false,
};

describeObjectStore('S3 store on s3rver', S3RVER, async () => {
  const directory = await mkdtemp(join(tmpdir(), 's3rver-'));
  const configureBuckets = [{ name: 'test-bucket', configs: [] }];
  const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory, configureBuckets });
  const { port } = await server.run();
  const options = {
    bucket: 'test-bucket',
    region: 'us-east-1',
    clock: systemClock,
    endpoint: `http://127.0.0.1:${port}`,
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
    forcePathStyle: true,
  };
  return openS3(options, async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });
});

const real = realS3Options('test');

if (real !== null) {
  const everything = {
    verifiesSignatures: true,
    servesSuffixRanges: true,
    // S3 signs the method too, so a URL for GET does not allow HEAD.
    answersHead: false,
    listsUploads: true,
    listsInByteOrder: true,
    sendsNosniff: false,
  };
  describeObjectStore('S3 store on a real server', everything, () => openS3(real, async () => undefined));
}
