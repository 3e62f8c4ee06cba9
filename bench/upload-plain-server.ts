/** The baseline of the upload benches: a bare server that parses with busboy and stores in a file or in S3. */
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
const { WAY, FOLDER = '.', S3_ENDPOINT = '', PORT } = process.env;

function toDisk(file: Readable): Promise<void> {
  return pipeline(file, createWriteStream(join(FOLDER, randomUUID()), { highWaterMark: MIB, flush: true }));
}

async function toS3(file: Readable): Promise<void> {
  const params = { Bucket: 'bench', Key: randomUUID(), Body: file.pipe(new PassThrough()) };
  await new Upload({ client: s3, params, partSize: 8 * MIB, queueSize: 2 }).done();
}

const s3 = new S3Client({
  endpoint: S3_ENDPOINT,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
  requestChecksumCalculation: 'WHEN_REQUIRED',
  responseChecksumValidation: 'WHEN_REQUIRED',
});
const store = WAY === 's3' ? toS3 : toDisk;

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
