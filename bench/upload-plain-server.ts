/** The baseline of the upload benchmark: a bare server that parses with busboy and stores in a file or in S3. */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import busboy from 'busboy';

const MIB = 1024 * 1024;
const { FOLDER = '.', S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID = '', S3_SECRET_ACCESS_KEY = '', PORT } = process.env;
const { S3_PREFIX = '' } = process.env;

function toDisk(file: Readable): Promise<void> {
  return pipeline(file, createWriteStream(join(FOLDER, randomUUID()), { highWaterMark: MIB, flush: true }));
}

async function toS3(file: Readable): Promise<void> {
  const params = { Bucket: S3_BUCKET, Key: S3_PREFIX + randomUUID(), Body: file.pipe(new PassThrough()) };
  await new Upload({ client: s3, params, partSize: 8 * MIB, queueSize: 2 }).done();
}

const s3 = new S3Client({
  ...(S3_ENDPOINT !== undefined && { endpoint: S3_ENDPOINT }),
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY },
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
});
const store = S3_ENDPOINT !== undefined ? toS3 : toDisk;

http
  .createServer((request, response) => {
    const parser = busboy({ headers: request.headers, highWaterMark: MIB, fileHwm: MIB });
    parser.on('file', (_name, file) => {
      store(file).then(
        () => response.end('{}'),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
    request.pipe(parser);
  })
  .listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
