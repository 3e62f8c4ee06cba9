/** The commands for operators. Each loads what it needs when it runs, so that other commands start fast. */
import type { Command } from '@lynxroom/cli';

const backup: Command = {
  name: 'backup',
  args: '<directory>',
  minArgs: 1,
  summary: 'Back up the database and the files on disk, while the service runs',
  details: `Uses the settings of the service (DATABASE_URL, DATA_DIR, S3_BUCKET). The backup has everything that was
committed before it began. Files in S3 are not in it. Nor is ENCRYPTION_KEY: keep it elsewhere.`,
  examples: ['lynxroom backup /var/backups/lynxroom-2026-11-22'],
  run: async (context) => (await import('./backup.ts')).backup(context),
};

const restore: Command = {
  name: 'restore',
  args: '<directory>',
  minArgs: 1,
  summary: 'Restore a backup to an empty database, while the service is stopped',
  details: 'Checks the whole backup first. Refuses a database or a directory of files that is not empty.',
  options: { replace: { help: 'delete everything in the database and all files on disk first' } },
  examples: ['lynxroom restore /var/backups/lynxroom-2026-11-22'],
  run: async (context) => (await import('./backup.ts')).restore(context),
};

const doctor: Command = {
  name: 'doctor',
  summary: 'Check settings, mail, database, migrations, store, clock and keys, and say what to fix',
  details: 'Changes nothing, and sends no mail. The exit code is 1 if there is a problem; warnings are not problems.',
  examples: ['lynxroom doctor', 'lynxroom doctor --json'],
  run: async (context) => (await import('./doctor.ts')).doctor(context),
};

const open: Command = {
  name: 'open',
  summary: 'Print a link that opens the console of this machine, signed in to the demo account',
  details: `Only while the service runs on this machine with its embedded database, for development. The link works
once, within ten minutes, and only in a browser on this machine.`,
  examples: ['lynxroom open'],
  run: async (context) => (await import('./open.ts')).open(context),
};

const dbUrl: Command = {
  name: 'db url',
  summary: 'Print the URL of the database, with its password',
  details:
    'Without DATABASE_URL, this is the URL of the embedded PostgreSQL, which runs only while the service is running.',
  examples: ['lynxroom db url', 'pg_dump --no-owner --format=custom --file=lynxroom.dump "$(lynxroom db url)"'],
  run: async (context) => (await import('./db.ts')).printUrl(context),
};

const dbPsql: Command = {
  name: 'db psql',
  args: '[-- <arguments of psql>]',
  maxArgs: Number.POSITIVE_INFINITY,
  summary: 'Open psql, if it is installed',
  details: 'Starts the embedded PostgreSQL if the service is not running.',
  examples: ['lynxroom db psql', `lynxroom db psql -- -c 'select count(*) from users'`],
  run: async (context) => (await import('./db.ts')).runPsql(context),
};

const adminUsers: Command = {
  name: 'admin users',
  args: '[search]',
  maxArgs: 1,
  summary: 'List accounts',
  options: {
    limit: { value: 'NUMBER', help: 'maximum number of accounts to list (default: 100)' },
    offset: { value: 'NUMBER', help: 'how many accounts to skip' },
  },
  examples: ['lynxroom admin users', 'lynxroom admin users ada'],
  run: async (context) => (await import('./admin.ts')).listUsers(context),
};

const adminResetPassword: Command = {
  name: 'admin reset-password',
  args: '<email>',
  minArgs: 1,
  summary: 'Set a new password for an account, and end its sessions',
  details: `Asks for the password, or reads it from standard input if that is not a terminal. The user gets a notice
by mail. Like a reset by mail, this ends the calendar feed, API keys, passkeys, linked providers and invitations of the
account. If somebody else had access to it, also use --end-api-keys and --remove-sign-in-methods.`,
  options: {
    generate: { help: 'generate the password, and print it' },
    'keep-access': { help: 'end only the sessions' },
    'end-api-keys': { help: 'also revoke the keys that it created for workspaces, for good' },
    'remove-sign-in-methods': { help: 'also remove its passkeys, linked providers and second factor' },
  },
  examples: [
    'lynxroom admin reset-password ada@example.com --generate',
    'lynxroom admin reset-password ada@example.com --end-api-keys --remove-sign-in-methods',
  ],
  run: async (context) => (await import('./admin.ts')).resetPassword(context),
};

const adminLock: Command = {
  name: 'admin lock',
  args: '<email>',
  minArgs: 1,
  summary: 'Lock an account: it cannot sign in, its sessions end, and its API keys are revoked',
  details: 'Attempts to sign in then fail as if the password were wrong. Unlocking does not restore the API keys.',
  examples: ['lynxroom admin lock ada@example.com'],
  run: async (context) => (await import('./admin.ts')).lock(context),
};

const adminUnlock: Command = {
  name: 'admin unlock',
  args: '<email>',
  minArgs: 1,
  summary: 'Let a locked account sign in again',
  examples: ['lynxroom admin unlock ada@example.com'],
  run: async (context) => (await import('./admin.ts')).unlock(context),
};

const adminRemoveSecondFactor: Command = {
  name: 'admin remove-second-factor',
  args: '<email>',
  minArgs: 1,
  summary: 'Switch off the second factor of a user who has lost the app and the recovery codes',
  details: 'First make sure that the request comes from the user. Sessions, passkeys and the password remain.',
  examples: ['lynxroom admin remove-second-factor ada@example.com'],
  run: async (context) => (await import('./admin.ts')).removeSecondFactor(context),
};

const mail: Command = {
  name: 'mail',
  args: '[id]',
  maxArgs: 1,
  summary: 'List the newest mail, or show a message',
  details: `A message can be read until it is sent. Without SMTP_URL none is sent, and all can be read. The links
in messages let their reader act for the recipient.`,
  options: {
    limit: { value: 'NUMBER', help: 'maximum number of messages to list (default: 50)' },
    to: { value: 'EMAIL', help: 'only messages to this address' },
  },
  examples: ['lynxroom mail', 'lynxroom mail 7', 'lynxroom mail --to ada@example.com'],
  run: async (context) => (await import('./mail.ts')).mail(context),
};

const keys: Command = {
  name: 'keys',
  summary: 'Show which encryption keys are in use, and which can be removed',
  details: `Reads all sealed secrets, and changes nothing. The exit code is 1 if a secret is sealed with a key that is
not configured. docs/rotate-keys.md explains how to rotate the keys.`,
  examples: ['lynxroom keys', 'lynxroom keys --json'],
  run: async (context) => (await import('./keys.ts')).keys(context),
};

export const operatorCommands: readonly Command[] = [
  open,
  doctor,
  keys,
  backup,
  restore,
  dbUrl,
  dbPsql,
  adminUsers,
  adminResetPassword,
  adminLock,
  adminUnlock,
  adminRemoveSecondFactor,
  mail,
];
