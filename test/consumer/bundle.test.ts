/** What a bundler makes of the packed client: its size, and that it needs nothing but Web APIs. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { expect, inject, test } from 'vitest';
import { signedHeaders } from '../../src/webhook-delivery/signature.ts';
import { createSigningKey } from '../../src/webhook-delivery/signing-keys.ts';
import { run } from '../client/packed-client.ts';

const MAX_GZIP_BYTES = 10_000;
const PEERS = ['@trpc/client', '@trpc/server', '@trpc/server/observable'];

/** Bundles the whole client. `iife` makes one script, whose result is the variable `lynxroom`. */
async function bundle(format: 'es' | 'iife', external: string[]): Promise<string> {
  const cwd = inject('exampleDir');
  const lib = { entry: 'bundle.js', formats: [format], name: 'lynxroom', fileName: format };
  const config = {
    logLevel: 'error',
    build: { outDir: `bundle-${format}`, minify: true, lib, rolldownOptions: { external } },
  };
  await writeFile(join(cwd, 'bundle.js'), "export * from '@lynxroom/client';");
  await writeFile(join(cwd, `${format}.config.js`), `export default ${JSON.stringify(config)};`);
  const args = ['node_modules/vite/bin/vite.js', 'build', '--config', `${format}.config.js`];
  const { stderr } = await run(process.execPath, args, { cwd });
  expect(stderr).toBe('');
  const name = format === 'es' ? 'es.js' : 'iife.iife.js';
  return readFile(join(cwd, `bundle-${format}`, name), 'utf8');
}

test('without its peer dependencies, it has at most 10 kB after gzip', async () => {
  const code = await bundle('es', PEERS);
  for (const name of ['createClient', 'verifyWebhook', 'XMLHttpRequest']) expect(code).toContain(name);
  expect(gzipSync(code).length).toBeLessThanOrEqual(MAX_GZIP_BYTES);
});

test('it calls operations and verifies webhooks in a runtime that has Web APIs alone', async () => {
  const { URL, Headers, Response, AbortController, AbortSignal, TextEncoder, TextDecoder } = globalThis;
  const { Blob, FormData, ReadableStream, crypto, atob, setTimeout, clearTimeout } = globalThis;
  const requests: string[] = [];
  const scope = createContext({
    URL,
    Headers,
    Response,
    AbortController,
    AbortSignal,
    TextEncoder,
    TextDecoder,
    Blob,
    FormData,
    ReadableStream,
    crypto,
    atob,
    setTimeout,
    clearTimeout,
    fetch: async (url: string) => {
      requests.push(url);
      return Response.json([{ result: { data: { name: 'green-fox' } } }]);
    },
  });
  const evaluate = (expression: string): unknown => runInContext(expression, scope);
  evaluate(await bundle('iife', []));
  expect(evaluate('typeof process + typeof Buffer + typeof require')).toBe('undefined'.repeat(3));

  const call = "lynxroom.createClient({ url: 'https://api.example.com' }).rooms.generateName.query()";
  expect(await evaluate(call)).toEqual({ name: 'green-fox' });
  expect(requests).toEqual([expect.stringContaining('https://api.example.com/trpc/rooms.generateName')]);

  const secret = `whsec_${Buffer.from('a secret of thirty-two bytes....').toString('base64')}`;
  const timestamp = new Date().toISOString();
  const body = JSON.stringify({ event: 'room.left', timestamp, data: { room_name: 'Zürich' } });
  const message = { messageId: 'msg_1', event: 'room.left', timestamp, attemptAt: new Date(), body } as const;
  const headers = new Headers(signedHeaders({ ...message, keys: [createSigningKey(secret)] }));
  Object.assign(scope, { secret, body, headers });
  expect(await evaluate('lynxroom.verifyWebhook(body, headers, secret)')).toMatchObject({
    event: 'room.left',
    data: { room_name: 'Zürich' },
  });
  await expect(evaluate("lynxroom.verifyWebhook(body + ' ', headers, secret)")).rejects.toMatchObject({
    name: 'WebhookVerificationError',
  });
});
