/** How many files one process copies at a time, and whose turn it is. */
import { expect, test } from 'vitest';
import { AppError } from '../../src/core/errors.ts';
import { type CopyObject, createCopySlots } from '../../src/storage/copy-slots.ts';

/** A store whose copies end when the test says so. */
function createSlowStore() {
  const running: { from: string; end: () => void }[] = [];
  return {
    running,
    store: {
      copy: (from: string) => new Promise<void>((resolve) => running.push({ from, end: resolve })),
    },
    names: () => running.map(({ from }) => from),
    endFirst: async () => {
      running.shift()?.end();
      await tick();
    },
  };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));
const copyAll = (files: readonly string[]) => async (copy: CopyObject) => {
  await Promise.all(files.map((file) => copy(file, `${file}-copy`)));
  return files.length;
};
const codeOf = async (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: unknown) => (error instanceof AppError ? [error.code, error.retryAfterSeconds] : error),
  );

test('the calls of a workspace run one after another, and those of others meanwhile', async () => {
  const { store, names, endFirst } = createSlowStore();
  const slots = createCopySlots();
  const calls = [
    slots.run(store, 1, copyAll(['a1'])),
    slots.run(store, 1, copyAll(['a2'])),
    slots.run(store, 2, copyAll(['b1'])),
  ];
  await tick();
  expect(names()).toEqual(['a1', 'b1']);
  await endFirst();
  expect(names()).toEqual(['b1', 'a2']);
  await endFirst();
  await endFirst();
  expect(await Promise.all(calls)).toEqual([1, 1, 1]);
});

test('a call that fails lets the next one run', async () => {
  const slots = createCopySlots();
  const { store } = createSlowStore();
  const failing = slots.run(store, 1, () => Promise.reject(new Error('no')));
  const next = slots.run(store, 1, () => Promise.resolve('done'));
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});

test('a workspace with many files leaves copies for others, and workspaces take turns', async () => {
  const { store, names, endFirst } = createSlowStore();
  const slots = createCopySlots({ maxCopies: 3, maxCopiesPerWorkspace: 2 });
  const calls = [
    slots.run(store, 1, copyAll(['a1', 'a2', 'a3', 'a4'])),
    slots.run(store, 2, copyAll(['b1', 'b2'])),
    slots.run(store, 3, copyAll(['c1'])),
  ];
  await tick();
  expect(names()).toEqual(['a1', 'a2', 'b1']);
  const order: string[] = [];
  for (let left = 7; left > 0; left -= 1) {
    order.push(names()[0] ?? '');
    await endFirst();
  }
  expect(order.indexOf('c1')).toBeLessThan(order.indexOf('a4'));
  expect(await Promise.all(calls)).toEqual([4, 2, 1]);
});

test('too many calls of a workspace are refused with 429, and too many files with 503', async () => {
  const { store, endFirst } = createSlowStore();
  const slots = createCopySlots({ maxWaitingCalls: 1, maxCopies: 1, maxCopiesPerWorkspace: 1, maxWaitingCopies: 1 });
  const first = slots.run(store, 1, copyAll(['a1']));
  const second = slots.run(store, 1, copyAll(['a2']));
  expect(await codeOf(slots.run(store, 1, copyAll(['a3'])))).toEqual(['TOO_MANY_REQUESTS', 5]);
  const other = slots.run(store, 2, copyAll(['b1']));
  expect(await codeOf(slots.run(store, 3, copyAll(['c1'])))).toEqual(['SERVICE_UNAVAILABLE', 5]);
  for (let left = 3; left > 0; left -= 1) await endFirst();
  expect(await Promise.all([first, second, other])).toEqual([1, 1, 1]);
});

test('a call, and a file, that waits for too long is refused', async () => {
  const { store, endFirst } = createSlowStore();
  const slots = createCopySlots({ maxCopies: 1, maxCopiesPerWorkspace: 1, maxWaitMs: 10 });
  const first = slots.run(store, 1, copyAll(['a1']));
  const waiting = [slots.run(store, 1, copyAll(['a2'])), slots.run(store, 2, copyAll(['b1']))];
  expect(await Promise.all(waiting.map(codeOf))).toEqual([
    ['TOO_MANY_REQUESTS', 5],
    ['SERVICE_UNAVAILABLE', 5],
  ]);
  await endFirst();
  expect(await first).toBe(1);
});
