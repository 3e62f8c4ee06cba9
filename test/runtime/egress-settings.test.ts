/** The settings of recordings by the LiveKit server of the operator. */
import { expect, test } from 'vitest';
import { systemClock } from '../../src/core/time.ts';
import { readConfig } from '../../src/runtime/config.ts';
import { toS3Settings } from '../../src/runtime/create-services.ts';
import { createLivekitEgress } from '../../src/runtime/egress-settings.ts';

const env = {
  S3_BUCKET: 'files',
  S3_ENDPOINT: 'http://s3.internal:9000',
  S3_ACCESS_KEY_ID: 'of the service',
  S3_SECRET_ACCESS_KEY: 'its secret',
  LIVEKIT_URL: 'wss://livekit.example.com',
  LIVEKIT_API_KEY: 'API1',
  LIVEKIT_API_SECRET: 'the secret of LiveKit',
  LIVEKIT_EGRESS_S3_ACCESS_KEY_ID: 'only writes',
  LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY: 'the secret of the recorder',
};

async function create(more: Record<string, string> = {}) {
  const config = readConfig({ ...env, ...more });
  const s3 = toS3Settings(config);
  return s3 && createLivekitEgress(config, s3, systemClock);
}

test('the recorder gets the bucket with credentials of its own', async () => {
  expect(await create()).toMatchObject({
    target: {
      bucket: 'files',
      endpoint: 'http://s3.internal:9000',
      forcePathStyle: true,
      accessKeyId: 'only writes',
      secretAccessKey: 'the secret of the recorder',
      prefix: 'egress',
    },
  });
  const more = { LIVEKIT_EGRESS_S3_ENDPOINT: 'https://s3.example.com', LIVEKIT_EGRESS_S3_PREFIX: 'calls/2026/' };
  expect((await create(more))?.target).toMatchObject({ endpoint: 'https://s3.example.com', prefix: 'calls/2026' });
});

test('without these settings, no server records', async () => {
  const config = readConfig({ S3_BUCKET: 'files' });
  const s3 = toS3Settings(config);
  expect(s3 && (await createLivekitEgress(config, s3, systemClock))).toBeNull();
});

const TOGETHER = 'LIVEKIT_EGRESS_S3_ACCESS_KEY_ID must be set together with LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY';
const ONLY_WITH =
  'LIVEKIT_EGRESS_S3_ACCESS_KEY_ID can be set only with LIVEKIT_URL and S3_BUCKET: that server writes recordings ' +
  'into the bucket';

test.each([
  [{ LIVEKIT_EGRESS_S3_SECRET_ACCESS_KEY: '' }, TOGETHER],
  [{ LIVEKIT_EGRESS_S3_ACCESS_KEY_ID: '' }, TOGETHER],
  [{ S3_BUCKET: '' }, ONLY_WITH],
  [{ LIVEKIT_URL: '', LIVEKIT_API_KEY: '', LIVEKIT_API_SECRET: '' }, ONLY_WITH],
  [
    { LIVEKIT_EGRESS_S3_PREFIX: 'lynxroom', S3_PREFIX: 'lynxroom' },
    'LIVEKIT_EGRESS_S3_PREFIX must be apart from the files of the service, which are in v1 below S3_PREFIX',
  ],
  [
    { LIVEKIT_EGRESS_S3_PREFIX: '../files' },
    'LIVEKIT_EGRESS_S3_PREFIX must be a directory of a-z, 0-9, _, . and -, such as egress',
  ],
])('%j is refused', (more, message) => {
  expect(() => readConfig({ ...env, ...more })).toThrow(`Invalid configuration:\n  ${message}`);
});
