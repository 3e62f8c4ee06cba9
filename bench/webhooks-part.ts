/** Runs bench/webhooks.ts, which also runs alone, and writes its table into docs/performance.md. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { readOptions } from './options.ts';
import { describeRun, toTable, writeSection } from './report.ts';

export async function run(): Promise<void> {
  const options = readOptions();
  const script = fileURLToPath(new URL('webhooks.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, ...process.argv.slice(2)]);
  const [table = '', latency = ''] = stdout.trim().split('\n\n');
  const [head = [], ...rows] = table.split('\n').map((line) => line.split(' | '));
  const details = `${options.events ?? '10,000'} events of 1 kB; median (range) of the rounds.`;
  const text = [describeRun(details), toTable(head, rows), `Latency from ${latency.replaceAll(' | ', ', ')}.`];
  await writeSection('performance.md', 'webhooks', text.join('\n\n'), options.write !== '0');
}
