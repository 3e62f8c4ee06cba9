/** Traces with the SDK that an operator installs, by the commands of docs/monitoring.md. */
import { spawnSync } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../client/packed-client.ts';
import { readPages } from '../docs/pages.ts';
import { startCommand } from '../support/script-process.ts';
import { makeTempDir } from '../support/temp-dir.ts';

test('the SDK is installed and loaded as docs/monitoring.md says, and spans are sent', async () => {
  const dir = await makeTempDir();
  const paths: (string | undefined)[] = [];
  const collector = createServer((request, response) => {
    paths.push(request.url);
    request.on('end', () => response.end('{}')).resume();
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const { port } = collector.address() as AddressInfo; // It listens on TCP.

  const { blocks = [] } = readPages().find(({ path }) => path === 'docs/monitoring.md') ?? {};
  const { code = '' } = blocks.find((block) => block.code.includes('npm install')) ?? {};
  const lines = code.trim().split('\n');
  const start = lines.pop() ?? '';
  expect(lines.pop()).toBe('export OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318');
  await mkdir(join(dir, 'ops'));
  await cp(join(root, 'ops/tracing.mjs'), join(dir, 'ops/tracing.mjs'));
  const installed = spawnSync('sh', ['-euc', lines.join('\n')], { cwd: dir, encoding: 'utf8' });
  expect({ status: installed.status, output: installed.stderr }).toMatchObject({ status: 0 });

  const [, preload = '', script = ''] = /^node --import (\S+) (\S+)$/.exec(start) ?? [];
  const server = startCommand(
    [process.execPath, '--import', join(dir, preload), join(root, script)],
    { PORT: '0', DATA_DIR: join(dir, '.data'), OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    (output) => /is listening on (http:\S+)/.exec(output)?.[1],
  );
  try {
    const response = await fetch(`${await server.ready}/api/dashboard/generate-name`);
    expect(response.headers.get('x-trace-id')).toMatch(/^[0-9a-f]{32}$/);
  } finally {
    await server.end('SIGTERM');
    collector.close();
    await rm(dir, { recursive: true, force: true });
  }
  // The SDK sends what is left at the end of the process.
  expect(paths).toContain('/v1/traces');
});
