/** The example of a telehealth product, built and started as its README says, on another origin than the service. */
import { join } from 'node:path';
import { packPackage } from '../../../../scripts/pack-package.ts';
import { packClient, run } from '../../../client/packed-client.ts';
import { installPackages } from '../../../support/install-packages.ts';
import { type ScriptProcess, startCommand } from '../../../support/script-process.ts';

const next = [process.execPath, 'node_modules/next/dist/bin/next'] as const;
const env = { NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1' };

/** Installs the example in `dir`, outside of the repository, with the packed packages. Builds it. Returns its path. */
export async function buildTelehealth(dir: string): Promise<string> {
  // Its lock file names the packed files by their relative paths.
  const cwd = join(dir, 'examples/telehealth');
  await Promise.all([packClient(dir), packPackage('@lynxroom/react', dir)]);
  await installPackages('examples/telehealth', cwd);
  const [program, script] = next;
  await run(program, [script, 'build'], { cwd, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } });
  return cwd;
}

/** Starts the built example on this port of the loopback address. */
export function startTelehealth(cwd: string, port: number, settings: Record<string, string>): ScriptProcess<true> {
  return startCommand(
    [...next, 'start', '--hostname', '127.0.0.1', '--port', String(port)],
    { ...env, ...settings },
    (output) => /Ready in/.test(output) || undefined,
    cwd,
  );
}
