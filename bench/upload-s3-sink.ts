/**
 * An S3 server that reads everything, stores only small objects and answers at once, so that only the sender's cost is
 * measured.
 */
import http from 'node:http';

const MAX_STORED_BYTES = 1_024;
const stored = new Map<string, Buffer>();

function xml(root: string, content: string) {
  return `<?xml version="1.0"?><${root}>${content}</${root}>`;
}

http
  .createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://sink');
    const isSmall = Number(request.headers['content-length'] ?? 0) <= MAX_STORED_BYTES;
    const chunks: Buffer[] = [];
    if (isSmall) request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.resume().on('end', () => {
      response.setHeader('etag', '"0123456789abcdef0123456789abcdef"');
      if (request.method === 'GET') {
        const object = stored.get(pathname);
        if (object !== undefined) return response.end(object);
        response.setHeader('content-type', 'application/xml');
        if (searchParams.has('list-type')) return response.end(xml('ListBucketResult', ''));
        if (searchParams.has('uploads')) return response.end(xml('ListMultipartUploadsResult', ''));
        return response.writeHead(404).end(xml('Error', '<Code>NoSuchKey</Code>'));
      }
      if (request.method === 'PUT' && isSmall) stored.set(pathname, Buffer.concat(chunks));
      if (request.method !== 'POST') return response.end();
      response.setHeader('content-type', 'application/xml');
      if (searchParams.has('uploads'))
        return response.end(xml('InitiateMultipartUploadResult', '<UploadId>upload</UploadId>'));
      return response.end(xml('CompleteMultipartUploadResult', '<ETag>"0123456789abcdef0123456789abcdef-13"</ETag>'));
    });
  })
  .listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
