/** Hashes a body while it is read, so that a repeated request can be compared with the first request. */
import { createHash, type Hash, hash } from 'node:crypto';
import { pipeline, type Readable, Transform } from 'node:stream';
import type { IncomingUpload } from '../media/receive-file.ts';
import type { BodyOf, RawRequest } from '../trpc/raw-operation.ts';

type Body = BodyOf<RawRequest>;

export type HashedBody = {
  /** The body, for the handler. */
  body: Body;
  /** Reads the whole body without a handler. Rejects if it is malformed. */
  read(): Promise<void>;
  /** The SHA-256 of the content of the body. Call it only after the whole body has been read. */
  hash(): Uint8Array;
};

/** `body` must be the body of a request of this kind. */
export function hashBody({ kind }: RawRequest, body: Body): HashedBody {
  // `as`: the kind of the request determines the type of its body.
  if (kind === 'multipart') return hashUpload(body as IncomingUpload);
  if (kind === 'csv') return hashBytes(body as AsyncIterable<Buffer>);
  if (kind === 'bytes')
    return { body, read: async () => {}, hash: once(() => hash('sha256', body as Buffer, 'buffer')) };
  throw new Error(`A body of the kind ${kind} is not hashed`);
}

/** The multipart boundary differs in each request, so it is not hashed. */
function hashUpload(upload: IncomingUpload): HashedBody {
  const content = createHash('sha256');
  let about: unknown;
  let fields: unknown;
  const file = upload.file.then((incoming) => {
    about = [incoming.filename, incoming.declaredType];
    return { ...incoming, stream: pass(incoming.stream, content) };
  });
  // Registered before the callback of the handler, so that it is called first.
  const all = upload.fields.then((texts) => {
    fields = Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1));
    return texts;
  });
  // The handler may stop before it has awaited both promises.
  file.catch(() => {});
  all.catch(() => {});
  return {
    body: { ...upload, file, fields: all },
    async read() {
      const { stream } = await file;
      for await (const _ of stream);
      await all;
    },
    hash: once(() =>
      createHash('sha256')
        .update(JSON.stringify([about, fields]))
        .update(content.digest())
        .digest(),
    ),
  };
}

function pass(source: Readable, hash: Hash): Readable {
  const hashing = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
  // This stream passes the errors of the source on to the reader.
  return pipeline(source, hashing, () => {});
}

function hashBytes(bytes: AsyncIterable<Buffer>): HashedBody {
  const content = createHash('sha256');
  async function* body(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      content.update(chunk);
      yield chunk;
    }
  }
  return {
    body: body(),
    async read() {
      for await (const chunk of bytes) content.update(chunk);
    },
    hash: once(() => content.digest()),
  };
}

/** Node can compute the digest of a Hash only once. */
function once(digest: () => Uint8Array): () => Uint8Array {
  let result: Uint8Array | undefined;
  return () => {
    result ??= digest();
    return result;
  };
}
