/** The slots and the memory of imports. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createImportLimiter } from '../../src/features/contacts/import-limiter.ts';

const KIB = 1024;
const BUSY = 'Other imports are running: try again in a moment';

/** A file that arrives in parts, when the test says so. */
function openFile() {
  const parts: (Buffer | null)[] = [];
  let wake = (): void => {};
  async function* read(): AsyncGenerator<Buffer> {
    for (;;) {
      const part = parts.shift();
      if (part === null) return;
      if (part !== undefined) yield part;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  }
  const push = async (part: Buffer | null): Promise<void> => {
    parts.push(part);
    wake();
    for (let count = 0; count < 5; count += 1) await turn();
  };
  return { file: read(), send: (part: Buffer) => push(part), end: () => push(null) };
}

function whole(...parts: Buffer[]): AsyncIterable<Buffer> {
  return (async function* () {
    yield* parts;
  })();
}

async function readAll(file: AsyncIterable<Buffer>): Promise<Buffer> {
  const blocks: Buffer[] = [];
  for await (const block of file) blocks.push(block);
  return Buffer.concat(blocks);
}

/** A slot that the test holds until it calls `end`. */
function holdSlot(limiter: ReturnType<typeof createImportLimiter>, userId: number, workspaceId: number) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = limiter.run({ userId, workspaceId }, whole(), () => promise);
  return { end: resolve, done };
}

test('passes on the bytes of the file, however they arrive', async () => {
  const limiter = createImportLimiter();
  const bytes = Buffer.from(Array.from({ length: 200 * KIB }, (_, index) => index % 251));
  const ones = whole(
    ...Array.from({ length: 1_000 }, (_, index) => bytes.subarray(index, index + 1)),
    bytes.subarray(1_000),
  );
  expect((await limiter.run({ userId: 1, workspaceId: 1 }, ones, readAll)).equals(bytes)).toBe(true);
  expect((await limiter.run({ userId: 1, workspaceId: 1 }, whole(), readAll)).length).toBe(0);
});

test('an import takes a slot only when its file is complete', async () => {
  const limiter = createImportLimiter({ maxRunning: 1 });
  const slow = openFile();
  const first = limiter.run({ userId: 1, workspaceId: 1 }, slow.file, readAll);
  await slow.send(Buffer.from('a'));
  expect(String(await limiter.run({ userId: 2, workspaceId: 2 }, whole(Buffer.from('b')), readAll))).toBe('b');
  await slow.end();
  expect(String(await first)).toBe('a');
});

test('users take turns for the slots', async () => {
  const limiter = createImportLimiter({ maxRunning: 1 });
  const held = holdSlot(limiter, 1, 1);
  const order: string[] = [];
  const start = (userId: number, workspaceId: number) =>
    limiter.run({ userId, workspaceId }, whole(), async () => order.push(`${userId}:${workspaceId}`));
  const all = [start(1, 2), start(1, 3), start(1, 4), start(2, 5)];
  await turn();
  held.end();
  await Promise.all([held.done, ...all]);
  expect(order).toEqual(['1:2', '2:5', '1:3', '1:4']);
});

test('an import that waits too long, or finds the queue full, gets 503 with Retry-After', async () => {
  const limiter = createImportLimiter({ maxRunning: 1, maxWaiting: 1, maxWaitMs: 50 });
  const held = holdSlot(limiter, 1, 1);
  const refusal = { code: 'SERVICE_UNAVAILABLE', message: BUSY, retryAfterSeconds: 10 };
  const waiting = expect(limiter.run({ userId: 2, workspaceId: 2 }, whole(), readAll)).rejects.toMatchObject(refusal);
  await turn();
  await expect(limiter.run({ userId: 3, workspaceId: 3 }, whole(), readAll)).rejects.toMatchObject(refusal);
  await waiting;
  held.end();
  await held.done;
  await limiter.run({ userId: 2, workspaceId: 2 }, whole(), readAll);
});

test('while the memory is full, the oldest arriving file of the user with the most bytes is refused', async () => {
  const limiter = createImportLimiter({ maxBytes: 192 * KIB });
  const [old, small, large] = [openFile(), openFile(), openFile()];
  const results = [
    limiter.run({ userId: 1, workspaceId: 1 }, old.file, readAll),
    limiter.run({ userId: 2, workspaceId: 2 }, small.file, readAll),
    limiter.run({ userId: 1, workspaceId: 3 }, large.file, readAll),
  ];
  const settled = Promise.allSettled(results);
  await old.send(Buffer.alloc(64 * KIB));
  await small.send(Buffer.alloc(10));
  await large.send(Buffer.alloc(100 * KIB));
  await old.end();
  await small.end();
  await large.end();
  const outcomes = await settled;
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(outcomes[0]).toMatchObject({ reason: { code: 'SERVICE_UNAVAILABLE', message: BUSY, retryAfterSeconds: 10 } });
  // All memory is free again.
  const all = Array.from({ length: 3 }, (_, index) => whole(Buffer.alloc(64 * KIB - index)));
  const again = all.map((file, index) => limiter.run({ userId: index, workspaceId: index }, file, readAll));
  expect((await Promise.all(again)).map(({ length }) => length)).toEqual([65_536, 65_535, 65_534]);
});
