import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { ObjectMissingError, type PartialObject } from '../../src/storage/object-store.ts';
import { byteSource, hashOf, MIB } from './sources.ts';
import { testIf, type UploadTools } from './upload.suite.ts';

const MP4 = { contentType: 'video/mp4' };

/** Tests the guarantees of `partial` and `read`. */
export function testPartialObjects(at: UploadTools): void {
  /** Appends the bytes from `from` to `to` of the endless byteSource. Returns the last state. */
  async function append(key: string, state: PartialObject | null, bytes: AsyncIterable<Buffer>) {
    const states: (PartialObject | null)[] = [state];
    await at.store.partial.append(key, state, bytes, {
      ...MP4,
      onStored: async (next) => {
        // A state is stored as JSON between two steps.
        states.push(JSON.parse(JSON.stringify(next)));
      },
    });
    return states.at(-1) ?? null;
  }

  async function slice(size: number, from: number, to: number): Promise<Buffer> {
    return (await buffer(byteSource(size))).subarray(from, to);
  }

  async function* failing(bytes: Buffer, error: Error): AsyncGenerator<Buffer> {
    yield bytes;
    throw error;
  }

  const started = (state: PartialObject | null): PartialObject => {
    if (state === null) throw new Error('Nothing was stored');
    return state;
  };

  test('an object that is written in steps of any size is stored unchanged', { timeout: 60_000 }, async () => {
    const steps = [1, 100_000, 5 * MIB, 8 * MIB, 8 * MIB - 1, 1, 20 * MIB, 4];
    const size = steps.reduce((sum, step) => sum + step, 0);
    const key = at.newKey('steps');
    const all = await buffer(byteSource(size));
    let state: PartialObject | null = null;
    let offset = 0;
    for (const step of steps) {
      state = await append(key, state, Readable.from([all.subarray(offset, offset + step)]));
      offset += step;
      expect(state?.size).toBe(offset);
    }
    expect((await at.get(key)).status).toBe(404);
    await at.store.partial.complete(key, started(state));
    await at.store.partial.complete(key, started(state));
    const answer = await at.get(key);
    expect(await hashOf(answer.body ?? Readable.from([]))).toBe(await hashOf(byteSource(size)));
    await at.store.remove(key);
    await at.expectNothing(key);
  });

  for (const size of [1, 3 * MIB, 8 * MIB])
    test(`an object of ${size} bytes is stored unchanged in one step`, async () => {
      const key = at.newKey('one-step');
      const state = started(await append(key, null, byteSource(size)));
      await at.store.partial.complete(key, state);
      expect(await hashOf(await at.store.read(key))).toBe(await hashOf(byteSource(size)));
    });

  test('objects that are written at the same time are not mixed', { timeout: 60_000 }, async () => {
    const refused = new Error('the database is down');
    const write = async (fill: number): Promise<void> => {
      const key = at.newKey(`mixed-${fill}`);
      const forget = { ...MP4, onStored: () => Promise.reject(refused) };
      const lost = at.store.partial.append(key, null, Readable.from([Buffer.alloc(9 * MIB, 99)]), forget);
      await expect(lost).rejects.toBe(refused);
      let state: PartialObject | null = null;
      for (const size of [6 * MIB, 8 * MIB, 8 * MIB + 1, 6 * MIB])
        state = await append(key, state, Readable.from([Buffer.alloc(size, fill)]));
      await at.store.partial.complete(key, started(state));
      const expected = Buffer.alloc(28 * MIB + 1, fill);
      expect(Buffer.compare(await buffer(await at.store.read(key)), expected)).toBe(0);
    };
    await Promise.all([1, 2, 3, 4].map(write));
  });

  test('bytes that arrive before a failure of the source are stored, and its error is thrown unchanged', async () => {
    const key = at.newKey('failing-source');
    const failure = new Error('the client went away');
    let state: PartialObject | null = null;
    const onStored = async (next: PartialObject) => {
      state = next;
    };
    const source = failing(await slice(10 * MIB, 0, 9 * MIB), failure);
    await expect(at.store.partial.append(key, null, source, { ...MP4, onStored })).rejects.toBe(failure);
    expect(started(state).size).toBe(9 * MIB);
    const rest = Readable.from([await slice(10 * MIB, 9 * MIB, 10 * MIB)]);
    await at.store.partial.complete(key, started(await append(key, state, rest)));
    expect(await hashOf(await at.store.read(key))).toBe(await hashOf(byteSource(10 * MIB)));
  });

  test('bytes after a state are overwritten if the step is repeated from that state', async () => {
    const key = at.newKey('repeated');
    const state = await append(key, null, Readable.from([await slice(12 * MIB, 0, 6 * MIB)]));
    const lost = new Error('the database is down');
    const forget = { ...MP4, onStored: () => Promise.reject(lost) };
    const wrong = Readable.from([Buffer.alloc(20 * MIB, 7)]);
    await expect(at.store.partial.append(key, state, wrong, forget)).rejects.toBe(lost);
    const rest = Readable.from([await slice(12 * MIB, 6 * MIB, 12 * MIB)]);
    await at.store.partial.complete(key, started(await append(key, state, rest)));
    const expected = await slice(12 * MIB, 0, 12 * MIB);
    expect(Buffer.compare(await buffer(await at.store.read(key)), expected)).toBe(0);
  });

  test('a caller with a state that was taken over does not change the object', { timeout: 60_000 }, async () => {
    const key = at.newKey('taken-over');
    const first = await slice(20 * MIB, 0, 9 * MIB);
    const previous = started(await append(key, null, Readable.from([first])));
    // The previous caller hangs in the middle of a step, and goes on after the object has been taken over.
    const taken = Promise.withResolvers<void>();
    async function* late(): AsyncGenerator<Buffer> {
      yield Buffer.alloc(MIB, 1);
      await taken.promise;
      yield Buffer.alloc(9 * MIB, 2);
    }
    const refused = new Error('another caller has taken over');
    const stale = at.store.partial.append(key, previous, late(), { ...MP4, onStored: () => Promise.reject(refused) });
    const state = await at.store.partial.takeOver(key, previous, async () => undefined);
    taken.resolve();
    await expect(stale).rejects.toBe(refused);
    const rest = Readable.from([await slice(20 * MIB, 9 * MIB, 20 * MIB)]);
    await at.store.partial.complete(key, started(await append(key, state, rest)));
    const expected = await slice(20 * MIB, 0, 20 * MIB);
    expect(Buffer.compare(await buffer(await at.store.read(key)), expected)).toBe(0);
  });

  test('an object that a killed caller has completed can be taken over and completed again', async () => {
    const key = at.newKey('completed-before');
    const previous = started(await append(key, null, byteSource(9 * MIB)));
    await at.store.partial.complete(key, previous);
    const state = await at.store.partial.takeOver(key, previous, async () => undefined);
    await at.store.partial.complete(key, state);
    expect(await hashOf(await at.store.read(key))).toBe(await hashOf(byteSource(9 * MIB)));
  });

  testIf(at.can.listsUploads)('a step without bytes, and a state that was taken over, leave nothing', async () => {
    const key = at.newKey('no-bytes');
    const staged = await at.countStaged();
    expect(await append(key, null, Readable.from([]))).toBeNull();
    expect(await at.countStaged()).toBe(staged);
    const previous = started(await append(key, null, byteSource(9 * MIB)));
    const before = await at.countStaged();
    const state = await at.store.partial.takeOver(key, previous, async () => undefined);
    expect(await at.countStaged()).toBe(before);
    await at.store.partial.discard(key, state);
    expect(await at.countStaged()).toBe(staged);
  });

  testIf(at.can.listsUploads)('a discarded object cannot be continued, and can be discarded again', async () => {
    const key = at.newKey('discarded');
    const staged = await at.countStaged();
    const state = started(await append(key, null, byteSource(9 * MIB)));
    await at.store.partial.discard(key, state);
    await at.store.partial.discard(key, state);
    expect(await at.countStaged()).toBe(staged);
    await expect(at.store.partial.complete(key, state)).rejects.toThrow(ObjectMissingError);
    await expect(append(key, state, byteSource(9 * MIB))).rejects.toThrow(ObjectMissingError);
    await at.expectNothing(key);
  });

  testIf(at.can.listsUploads)('removeStaleUploads leaves unfinished objects that are still in progress', async () => {
    const kept = at.newKey('in-progress');
    const left = at.newKey('left');
    const state = started(await append(kept, null, byteSource(9 * MIB)));
    const other = started(await append(left, null, byteSource(9 * MIB)));
    await at.store.removeStaleUploads(
      new Date(Date.now() + 3_600_000),
      async () => new Set([kept.slice(kept.lastIndexOf('/') + 1)]),
    );
    await expect(at.store.partial.complete(left, other)).rejects.toThrow(ObjectMissingError);
    await at.store.partial.complete(kept, state);
    expect(await hashOf(await at.store.read(kept))).toBe(await hashOf(byteSource(9 * MIB)));
  });

  test('read returns ranges, and throws ObjectMissingError for an object that does not exist', async () => {
    const key = at.newKey('ranges');
    await at.store.put(key, Readable.from([Buffer.from('0123456789')]), MP4);
    const read = async (range?: { start: number; end?: number }) =>
      (await buffer(await at.store.read(key, range))).toString();
    expect(await read()).toBe('0123456789');
    expect(await read({ start: 4 })).toBe('456789');
    expect(await read({ start: 2, end: 5 })).toBe('234');
    await expect(at.store.read(at.newKey('missing'))).rejects.toThrow(ObjectMissingError);
  });
}
