/** `lynxroom open`: a link that signs the person at this machine in to the demo account. */
import { join } from 'node:path';
import { CliError, type Context } from '@lynxroom/cli';
import { findRunningPostgres } from '../db/embedded.ts';
import { createLocalLink } from '../features/auth/local-sign-in.ts';
import { demoEmail, readShellUrl } from '../runtime/demo-account.ts';
import { localAccessOf } from '../runtime/local-access.ts';
import { withServices } from './services.ts';
import { readSettings } from './settings.ts';

export async function open(context: Context): Promise<undefined> {
  const config = readSettings(context);
  if (!localAccessOf(config).signsInLocally)
    throw new CliError('Only a service for development has such links, on loopback and with its embedded database');
  const url = await readShellUrl(join(config.DATA_DIR, 'demo.env'));
  if (url === null || (await findRunningPostgres(config.DATA_DIR)) === null)
    throw new CliError('The service does not run: start it with npm start');
  const path = await withServices(context, (services) => createLocalLink(services, demoEmail));
  if (path === null) throw new CliError('There is no demo account: sign in with your own');
  context.print({ url: `${url}${path}` }, `${url}${path}`);
  context.note('Open this link in a browser on this machine. It works once, within ten minutes.');
  return undefined;
}
