/** coturn, where it is installed: relays between browsers that may not connect directly. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../../support/free-port.ts';
import { startCommand } from '../../../support/script-process.ts';
import { makeTempDir } from '../../../support/temp-dir.ts';

/** The path of the program, or undefined. */
export const turnserverPath = `${process.env.PATH}:/usr/sbin`
  .split(':')
  .map((dir) => join(dir, 'turnserver'))
  .find((path) => existsSync(path));

export type Coturn = {
  /** The settings of a service that uses it. */
  env: Record<string, string>;
  /** What it has logged so far. */
  output(): string;
  stop(): Promise<void>;
};

/** Starts it on loopback. */
export async function startCoturn(): Promise<Coturn> {
  const [port, minPort] = [await freePort(), await freePort()];
  const dir = await makeTempDir();
  const secret = 'the secret of the relay in a test';
  const options = [
    ...['-n', '--listening-ip=127.0.0.1', '--relay-ip=127.0.0.1', `--listening-port=${port}`],
    ...['--use-auth-secret', `--static-auth-secret=${secret}`, '--realm=example.org', '--allow-loopback-peers'],
    ...['--no-tls', '--no-dtls', '--no-cli', `--min-port=${minPort}`, `--max-port=${minPort + 200}`],
    ...['--log-file=stdout', '--simple-log', `--pidfile=${dir}/pid`, `--userdb=${dir}/users`],
  ];
  const process = startCommand([turnserverPath ?? 'turnserver', ...options], {}, (output) =>
    output.includes('Total General servers') ? true : undefined,
  );
  await process.ready;
  return {
    env: { TURN_URLS: `turn:127.0.0.1:${port}?transport=udp`, TURN_SECRET: secret },
    output: process.output,
    async stop() {
      await process.end('SIGTERM');
      await rm(dir, { recursive: true, force: true });
    },
  };
}
