/**
 * An S3 server that reads everything, stores nothing and answers at once, so that only the sender's cost is measured.
 */
import http from 'node:http';

function xml(root: string, content: string) {
  return `<?xml version="1.0"?><${root}>${content}</${root}>`;
}

http
  .createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://sink');
    request.resume().on('end', () => {
      response.setHeader('etag', '"0123456789abcdef0123456789abcdef"');
      if (request.method !== 'POST') return response.end();
      response.setHeader('content-type', 'application/xml');
      if (searchParams.has('uploads'))
        return response.end(xml('InitiateMultipartUploadResult', '<UploadId>upload</UploadId>'));
      return response.end(xml('CompleteMultipartUploadResult', '<ETag>"0123456789abcdef0123456789abcdef-13"</ETag>'));
    });
  })
  .listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
