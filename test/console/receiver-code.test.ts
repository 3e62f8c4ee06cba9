/** The receivers that the console shows are those of `examples`, which other tests run. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const shown = '../../web/src/routes/w/$workspaceId/-developers/receivers/';
const examples = '../../examples/webhook-receivers/';

test.each(['receive-webhooks.mjs', 'receive_webhooks.py'])('the console shows %s of the examples', async (name) => {
  const [copy, example] = await Promise.all([read(`${shown}${name}.txt`), read(`${examples}${name}`)]);
  expect(copy).toBe(example);
});

function read(path: string): Promise<string> {
  return readFile(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
}
