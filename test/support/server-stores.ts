/** The stores that a server can have, as its environment variables name them. */

const { S3_TEST_ENDPOINT, S3_TEST_ACCESS_KEY_ID = '', S3_TEST_SECRET_ACCESS_KEY = '', S3_TEST_BUCKET } = process.env;

/** The disk, and the S3 server that the variables `S3_TEST_*` name. Each has a prefix of its own for `purpose`. */
export function serverStores(purpose: string): { store: string; env: Record<string, string> }[] {
  const disk = { store: 'the disk', env: {} };
  if (S3_TEST_ENDPOINT === undefined) return [disk];
  const env = {
    S3_ENDPOINT: S3_TEST_ENDPOINT,
    S3_ACCESS_KEY_ID: S3_TEST_ACCESS_KEY_ID,
    S3_SECRET_ACCESS_KEY: S3_TEST_SECRET_ACCESS_KEY,
    S3_BUCKET: S3_TEST_BUCKET ?? 'test-bucket',
    S3_REGION: 'us-east-1',
    S3_PREFIX: `${purpose}-${crypto.randomUUID()}`,
  };
  return [disk, { store: 'S3', env }];
}
