/** Variables that look like misspelt settings are reported at start, without their values. */
import { describe, expect, test } from 'vitest';
import { settingNames } from '../../src/runtime/config.ts';
import { describeUnknownSettings } from '../../src/runtime/unknown-settings.ts';

const prefix = 'Unknown settings, which have no effect: ';

function report(...names: string[]): string | null {
  return describeUnknownSettings(Object.fromEntries(names.map((name) => [name, 'hunter2'])), settingNames);
}

test.each([
  ['DATABSE_URL', 'DATABSE_URL (did you mean DATABASE_URL?)'],
  ['DATABASE_URI', 'DATABASE_URI (did you mean DATABASE_URL?)'],
  ['S3_BUKET', 'S3_BUKET (did you mean S3_BUCKET?)'],
  ['PROT', 'PROT (did you mean PORT?)'],
  ['port', 'port (did you mean PORT?)'],
  ['LYNXROOM_HOST', 'LYNXROOM_HOST (did you mean HOST?)'],
  ['LYNXROOM_DATABASE_URL', 'LYNXROOM_DATABASE_URL (did you mean DATABASE_URL?)'],
  ['LOGLEVEL', 'LOGLEVEL (did you mean LOG_LEVEL?)'],
  ['RATE_LIMITS_PUBLIC', 'RATE_LIMITS_PUBLIC (did you mean RATE_LIMIT_PUBLIC?)'],
  ['QUOTA_FOLDERS', 'QUOTA_FOLDERS'],
  ['WEBHOOK_TIMEOUT', 'WEBHOOK_TIMEOUT'],
])('%s is reported', (name, text) => {
  expect(report(name)).toBe(prefix + text);
});

test.each([
  ['S3_SECRET_ACCESS_KEY: aBc/hunter2', 'S3_SECRET_ACCESS_KEY'],
  ['S3_SECRET_ACCESS_KEY hunter2=', 'S3_SECRET_ACCESS_KEY'],
  ['DATABASE_URL postgres://lynxroom:hunter2@db/lynxroom?sslmode', 'DATABASE_URL'],
  ['WEBHOOK_PASSWORD hunter2', 'WEBHOOK_PASSWORD'],
])('a line of .env without = after the name is reported without its value: %s', (line, name) => {
  expect(report(line)).toBe(`${prefix}${name} (there is no = after this name in .env)`);
  // The last character of the value was the =, so the rest is empty.
  expect(describeUnknownSettings({ [line]: '' }, settingNames)).toBe(report(line));
});

describe('what other programs use is not reported', () => {
  test.each([
    [
      [
        'PATH',
        'HOME',
        'HOSTNAME',
        'PWD',
        'LANG',
        'TERM',
        'USER',
        'SHELL',
        'TZ',
        'EDITOR',
        'TMPDIR',
        'LOGNAME',
        'SHLVL',
      ],
    ],
    [['API_URL', 'APP_NAME', 'APP_ENV', 'NODE_OPTIONS', 'NODE_PATH', 'NODE_EXTRA_CA_CERTS', 'NPM_TOKEN', 'CI', 'POST']],
    [['LYNXROOM_URL', 'LYNXROOM_TOKEN', 'LYNXROOM_WORKSPACE', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'S3_TEST_ENDPOINT']],
    [['OTEL_SERVICE_NAME', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'UV_USE_IO_URING', 'MALLOC_ARENA_MAX', 'NOTIFY_SOCKET']],
    [['S3_SERVICE_HOST', 'S3_PORT', 'S3_PORT_9000_TCP_ADDR', 'WEBHOOK_SERVICE_PORT_HTTP', 'DATABASE_PORT']],
    [['POSTGRES_PASSWORD', 'PGHOST', 'PGDATABASE', 'PGPORT', 'INVOCATION_ID', 'JOURNAL_STREAM', 'npm_config_registry']],
  ])('%j', (names) => {
    expect(report(...names)).toBeNull();
  });

  test('the settings themselves, and variables that are empty', () => {
    expect(report(...settingNames)).toBeNull();
    expect(describeUnknownSettings({ S3_BUKET: '' }, settingNames)).toBeNull();
  });
});

test('one line names all of them, and no values', () => {
  const line = report('S3_BUKET', 'PROT');
  expect(line).toBe(`${prefix}S3_BUKET (did you mean S3_BUCKET?), PROT (did you mean PORT?)`);
});
