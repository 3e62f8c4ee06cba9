/** `lynxroom doctor`: checks an installation, and says what to fix. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from '@lynxroom/cli';
import { connect, describeError } from '../db/connect.ts';
import { type Config, settingNamesFor } from '../runtime/config.ts';
import { describeInsecureOrigin } from '../runtime/secure-context.ts';
import { describeUnknownSettings } from '../runtime/unknown-settings.ts';
import { checkClock, checkMigrations, checkServerVersion } from './database-checks.ts';
import { explainFailure } from './failures.ts';
import type { Finding } from './finding.ts';
import { checkMail } from './mail-checks.ts';
import { createLog, readSettings, withDatabase } from './settings.ts';
import { checkKeys, checkStore } from './store-checks.ts';

const MIN_NODE_MAJOR = 24;

/** Resolves with 1 if there is a problem. Warnings are not problems. */
export async function doctor(context: Context): Promise<number> {
  const findings = [checkNode(), ...(await checkInstallation(context))];
  const isHealthy = findings.every(({ state }) => state !== 'problem');
  const lines = findings.map(({ check, state, detail }) => `${state.padEnd(8)} ${check.padEnd(10)} ${detail}`);
  context.print({ healthy: isHealthy, findings }, lines.join('\n'));
  return isHealthy ? 0 : 1;
}

function checkNode(): Finding {
  const isModern = Number.parseInt(process.versions.node, 10) >= MIN_NODE_MAJOR;
  const detail = isModern
    ? process.version
    : `Node ${MIN_NODE_MAJOR} or newer is needed, but this is ${process.version}`;
  return { check: 'node', state: isModern ? 'ok' : 'problem', detail };
}

async function checkInstallation(context: Context): Promise<Finding[]> {
  const settings = await attempt('settings', async () => readSettings(context));
  if (!('value' in settings)) return [settings.problem];
  const config = settings.value;
  const findings = [describeSettings(config, context.env), ...checkMeetings(config), await checkMail(config)];
  if (config.DATABASE_URL === undefined && !existsSync(join(config.DATA_DIR, 'postgres'))) {
    const detail = `There is no database in ${config.DATA_DIR} yet: the first start of the service creates it`;
    return [...findings, { check: 'database', state: 'warning', detail }];
  }
  return [...findings, ...(await checkDatabase(context, config))];
}

function describeSettings(config: Config, env: Context['env']): Finding {
  const unknown = describeUnknownSettings(env, settingNamesFor(env));
  if (unknown !== null) return { check: 'settings', state: 'warning', detail: unknown };
  const { DATABASE_URL: url, DATA_DIR: dataDir, S3_BUCKET: bucket, NODE_ENV: mode } = config;
  const database = url === undefined ? 'the embedded PostgreSQL' : 'DATABASE_URL';
  const files = bucket === undefined ? `files in ${dataDir}` : `files in the bucket ${bucket}`;
  const detail = `${mode === 'production' ? 'production' : 'development'}, ${database}, ${files}`;
  return { check: 'settings', state: 'ok', detail };
}

/** Reports nothing if browsers can use cameras, which is the usual case. */
function checkMeetings(config: Config): Finding[] {
  const warning = describeInsecureOrigin(config);
  return warning === null ? [] : [{ check: 'meetings', state: 'warning', detail: warning }];
}

async function checkDatabase(context: Context, config: Config): Promise<Finding[]> {
  const log = createLog(context);
  const checked = await attempt('database', () =>
    withDatabase(config, log, async (url) => {
      const client = await connect(url, 'doctor', log);
      try {
        const server = await checkServerVersion(client);
        if (server.state === 'problem') return [server];
        const migrations = await attempt('migrations', () => checkMigrations(client));
        const clock = await checkClock(client);
        const rest = [
          await attempt('store', () => checkStore(client, config)),
          await attempt('keys', () => checkKeys(client, config)),
        ];
        return [server, ...[migrations, ...rest].map(toFinding), clock];
      } finally {
        await client.end().catch(() => undefined);
      }
    }),
  );
  return 'value' in checked ? checked.value : [checked.problem];
}

type Attempt<Value> = { value: Value } | { problem: Finding };

function toFinding(attempted: Attempt<Finding>): Finding {
  return 'value' in attempted ? attempted.value : attempted.problem;
}

/** Turns a failure into a problem, so that the other checks still run. */
async function attempt<Value>(check: string, work: () => Promise<Value>): Promise<Attempt<Value>> {
  try {
    return { value: await work() };
  } catch (error) {
    const { message } = explainFailure(error);
    return { problem: { check, state: 'problem', detail: message || describeError(error) } };
  }
}
