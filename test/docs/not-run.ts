/**
 * How many blocks of each page are not run, because they say so with no-run="the reason". Add a block here only if no
 * test can run it, such as one that needs a machine with systemd.
 */
export const notRun: Readonly<Record<string, number>> = {
  'README.md': 2,
  'docs/accounts.md': 3,
  'docs/backup.md': 7,
  'docs/bookings.md': 1,
  'docs/cli.md': 2,
  'docs/deployment.md': 7,
  'docs/development.md': 2,
  'docs/embedding.md': 2,
  'docs/languages.md': 2,
  'docs/live-updates.md': 1,
  'docs/mail.md': 1,
  'docs/mcp.md': 2,
  'docs/meeting-client.md': 2,
  'docs/meetings.md': 2,
  'docs/monitoring.md': 3,
  'docs/passkeys.md': 2,
  'docs/performance.md': 1,
  'docs/provider-generic.md': 7,
  'docs/quick-start.md': 1,
  'docs/rotate-keys.md': 2,
  'docs/running.md': 2,
  'docs/scaling.md': 3,
  'docs/sign-in-with-openid.md': 2,
  'docs/turn.md': 1,
  'docs/typed-client.md': 1,
  'docs/upgrading.md': 4,
  'docs/versioning.md': 1,
  'docs/webhooks.md': 1,
};
