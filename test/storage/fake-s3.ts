import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../src/core/time.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { createS3Store } from '../../src/storage/s3-store.ts';

/** The operations of S3 that a store uses, one per kind of request. */
export type Operation = 'create' | 'part' | 'complete' | 'abort' | 'put' | 'copy' | 'delete' | 'get';

export type Call = { operation: Operation; part: number; response: ServerResponse };

/** A server that records its calls, and whose answers a test can replace. It stores no data and verifies nothing. */
export type FakeS3 = {
  store: ObjectStore;
  calls: Operation[];
  /** How many bytes of request bodies it has received. */
  received: number;
  close(): Promise<void>;
};

export type Faults = {
  /** Returns true to replace the answer of the server. It may also leave the request unanswered. */
  answer?: (call: Call) => boolean;
  /** How fast bodies are read, in bytes per second. */
  bytesPerSecond?: number;
  idleTimeoutMs?: number;
};

export async function openFakeS3({ answer, bytesPerSecond, idleTimeoutMs = 20_000 }: Faults): Promise<FakeS3> {
  const server = createServer((request, response) => {
    const call = { ...readOperation(request), response };
    fake.calls.push(call.operation);
    request.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => {
      fake.received += chunk.length;
      if (bytesPerSecond === undefined) return;
      request.pause();
      setTimeout(() => request.resume(), (chunk.length / bytesPerSecond) * 1000);
    });
    request.on('end', () => {
      if (!answer?.(call)) succeed(call);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // It listens on TCP, so this is not the name of a pipe.
  const fake: FakeS3 = {
    store: createS3Store({
      bucket: 'bucket',
      region: 'us-east-1',
      clock: systemClock,
      endpoint: `http://127.0.0.1:${port}`,
      accessKeyId: 'key',
      secretAccessKey: 'secret',
      forcePathStyle: true,
      prefix: 'installation',
      idleTimeoutMs,
    }),
    calls: [],
    received: 0,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return fake;
}

function readOperation(request: IncomingMessage): { operation: Operation; part: number } {
  const { searchParams } = new URL(request.url ?? '', 'http://fake');
  const part = Number(searchParams.get('partNumber') ?? 0);
  const method = request.method ?? '';
  const isUpload = searchParams.has('uploadId');
  if (method === 'GET') return { operation: 'get', part };
  if (method === 'POST') return { operation: isUpload ? 'complete' : 'create', part };
  if (method === 'DELETE') return { operation: isUpload ? 'abort' : 'delete', part };
  if (request.headers['x-amz-copy-source'] !== undefined) return { operation: 'copy', part };
  return { operation: isUpload ? 'part' : 'put', part };
}

function succeed({ operation, response }: Call): void {
  response.setHeader('etag', '"0123456789abcdef"');
  if (operation === 'create') response.end(xml('InitiateMultipartUploadResult', '<UploadId>upload-1</UploadId>'));
  else if (operation === 'complete') response.end(xml('CompleteMultipartUploadResult', '<ETag>"abc-3"</ETag>'));
  else if (operation === 'copy') response.end(xml('CopyObjectResult', '<ETag>"abc"</ETag>'));
  else if (operation === 'abort' || operation === 'delete') response.writeHead(204).end();
  else response.end();
}

export function xml(root: string, content: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}>${content}</${root}>`;
}

export function refuse(response: ServerResponse, status: number, code: string): boolean {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(xml('Error', `<Code>${code}</Code>`));
  return true;
}
