/** Settings from the environment, and `.env.example`, which documents them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/runtime/config.ts';

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name]) => name ?? '').sort();
}

const example = read('.env.example');

test('.env.example lists exactly the settings that the service reads', () => {
  const known = namesIn(read('src/runtime/config.ts'), /^ {4}([A-Z][A-Z0-9_]+): /gm);
  expect(known.length).toBeGreaterThan(20);
  expect(namesIn(example, /^(?:# )?([A-Z][A-Z0-9_]+)=/gm)).toEqual(known);
});

test('the values in .env.example are the defaults', () => {
  const lines = example.split('\n').filter((line) => /^[A-Z]/.test(line));
  const values = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)));
  expect(Object.keys(values)).toContain('PORT');
  expect(readConfig(values)).toEqual(readConfig({}));
});

test('docs/configuration.md lists exactly the settings of .env.example, with the same defaults', () => {
  const rows = [...read('docs/configuration.md').matchAll(/^\| `([A-Z][A-Z0-9_]+)` \| (\S.*?) \| /gm)];
  expect(rows.map(([, name]) => name).sort()).toEqual(namesIn(example, /^(?:# )?([A-Z][A-Z0-9_]+)=/gm));
  const fixed = rows.filter(([, , value]) => !value?.startsWith('(')).map(([, name, value]) => `${name}=${value}`);
  expect(fixed.sort()).toEqual(namesIn(example, /^([A-Z][A-Z0-9_]+=.*)$/gm));
});

test('an empty variable counts as not set', () => {
  expect(readConfig({ PORT: '', S3_BUCKET: '' })).toEqual(readConfig({}));
});

function readError(env: Record<string, string>): string {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  return 'accepted';
}

const MAIL_FROM = 'noreply@example.com';

test.each([
  [{ PORT: '65536' }, 'PORT must be a whole number from 0 to 65535'],
  [{ PORT: '3e3' }, 'PORT must be a whole number from 0 to 65535'],
  [
    { REGISTRATION: 'invited', REGISTRATION_DOMAINS: 'example.com, @corp.example' },
    'REGISTRATION_DOMAINS must be a comma-separated list of domains of email addresses, such as example.com',
  ],
  [{ REGISTRATION_DOMAINS: 'example.com' }, 'REGISTRATION_DOMAINS must be set together with REGISTRATION=invited'],
  [{ DATABASE_URL: 'mysql://db' }, 'DATABASE_URL must be a URL that begins with postgresql://'],
  [{ DATABASE_POOLING: 'statement' }, 'DATABASE_POOLING must be session or transaction'],
  [{ DATABASE_DIRECT_URL: 'postgresql://db' }, 'DATABASE_DIRECT_URL can be set only with DATABASE_URL'],
  [
    { DATABASE_URL: 'postgresql://db', DATABASE_POOLING: 'transaction' },
    'DATABASE_DIRECT_URL must be set with DATABASE_POOLING=transaction: migrations and notifications need a session',
  ],
  [{ PUBLIC_URL: 'api.example.com' }, 'PUBLIC_URL must be a URL that begins with http:// or https://'],
  [{ MAIL_FROM, SMTP_URL: 'https://smtp.example.com' }, 'SMTP_URL must be a URL that begins with smtp:// or smtps://'],
  [
    { SMTP_URL: 'smtp://smtp.example.com' },
    'MAIL_FROM must be set together with SMTP_URL, because it names the sender of all mail',
  ],
  [{ MAIL_FROM, SMTP_URL: 'smtp://mail?tls=none' }, 'SMTP_URL must have no path, and no parameter except tls=off'],
  [{ MAIL_FROM, SMTP_URL: 'smtps://mail?tls=off' }, 'SMTP_URL can have tls=off only with smtp://'],
  [
    { MAIL_FROM: 'Lynxroom' },
    'MAIL_FROM must be an email address, or a name and an address: Lynxroom <noreply@example.com>',
  ],
  [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent'],
  [{ SIGNING_SECRET: 'short' }, 'SIGNING_SECRET must have at least 16 characters'],
  [{ S3_ACCESS_KEY_ID: 'key' }, 'S3_SECRET_ACCESS_KEY must be set together with S3_ACCESS_KEY_ID'],
  [
    { CORS_ORIGINS: 'https://app.example.com/' },
    'CORS_ORIGINS must be *, or a comma-separated list of origins without a path, such as https://app.example.com',
  ],
  [
    { TRUST_PROXY: '1' },
    'TRUST_PROXY must be 0, or a comma-separated list of proxy addresses or networks, such as 10.0.0.0/8',
  ],
  [{ PUBLIC_URL: 'https://example.com/base' }, 'PUBLIC_URL must have no path'],
  [{ S3_FORCE_PATH_STYLE: 'yes' }, 'S3_FORCE_PATH_STYLE must be 0 or 1'],
  [
    { RUN_WORKER: '0' },
    'RUN_WORKER can be 0 only with DATABASE_URL: with the embedded database, the server does the background work',
  ],
  [{ RATE_LIMIT_PUBLIC: '-1' }, 'RATE_LIMIT_PUBLIC must be a whole number from 0 to 1000000000'],
])('%j is refused with a message that names the setting and says what is valid', (env, line) => {
  expect(readError(env).split('\n').slice(1)).toEqual([`  ${line}`]);
});

test('the message that refuses a secret does not repeat it', () => {
  expect(readError({ SIGNING_SECRET: 'hunter2' })).not.toContain('hunter2');
});

test('lists and URLs are parsed', () => {
  const config = readConfig({
    PUBLIC_URL: 'https://API.example.com:443/',
    CORS_ORIGINS: 'https://a.example, https://b.example',
    TRUST_PROXY: '10.0.0.0/8',
  });
  expect(config).toMatchObject({
    PUBLIC_URL: 'https://api.example.com',
    CORS_ORIGINS: ['https://a.example', 'https://b.example'],
    TRUST_PROXY: ['10.0.0.0/8'],
  });
});

test('the sender of mail is an address, with or without a name', () => {
  const address = 'noreply@example.com';
  const senderOf = (text: string) => readConfig({ MAIL_FROM: text }).MAIL_FROM;
  expect(senderOf(address)).toEqual({ name: '', address });
  expect(senderOf(`Lynxroom <${address}>`)).toEqual({ name: 'Lynxroom', address });
  expect(senderOf(`"Lynxroom, Inc." <${address}>`)).toEqual({ name: 'Lynxroom, Inc.', address });
});
