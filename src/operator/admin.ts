/** `lynxroom admin`: accounts, for operators with access to the database. */
import { randomBytes } from 'node:crypto';
import { CliError, type Context, openPrompt, toTable, toTime, UsageError } from '@lynxroom/cli';
import { AppError } from '../core/errors.ts';
import {
  listAccounts,
  lockAccount,
  removeSecondFactorOf,
  resetPassword as setPassword,
  unlockAccount,
} from '../features/auth/operator.ts';
import { RegisterInput } from '../features/auth/schemas.ts';
import { type OperatorServices, withServices } from './services.ts';

const MAX_LISTED = 100;

export async function listUsers(context: Context): Promise<undefined> {
  const [search] = context.args;
  const page = { search, limit: context.number('limit') ?? MAX_LISTED, offset: context.number('offset') ?? 0 };
  const users = await withServices(context, (services) => listAccounts(services, page));
  const rows = users.map((user) => [
    String(user.id),
    user.email,
    user.name,
    toTime(user.created_at),
    user.locked_at === null ? '' : `locked ${toTime(user.locked_at)}`,
    `${user.workspaces} workspaces, ${user.sessions} sessions, ${user.api_keys} keys`,
  ]);
  context.print({ users }, toTable(['ID', 'EMAIL', 'NAME', 'SINCE (UTC)', 'STATE', 'HAS'], rows, 'No accounts'));
  if (users.length === page.limit) context.note(`More: --offset ${page.offset + page.limit}`);
  return undefined;
}

export async function resetPassword(context: Context): Promise<undefined> {
  const [email = ''] = context.args;
  const isGenerated = context.flag('generate');
  const password = isGenerated ? randomBytes(18).toString('base64url') : await askPassword(context);
  const endApiKeys = context.flag('end-api-keys');
  const removeMethods = context.flag('remove-sign-in-methods');
  const input = { email, password, keepAccess: context.flag('keep-access'), endApiKeys, removeMethods };
  const { id, removed } = await changeAndReport(context, (services) => setPassword(services, input));
  if (!context.isJson && isGenerated) context.note('The new password is shown only once:');
  const text = isGenerated ? password : `Changed the password of ${email}. All sessions of this account have ended.`;
  context.print({ id, email, ...(isGenerated && { password }), ...(removed && { removed }) }, text);
  return undefined;
}

async function askPassword(context: Context): Promise<string> {
  const prompt = openPrompt(context);
  try {
    const password = await prompt.askSecret('New password');
    const { error } = RegisterInput.shape.password.safeParse(password);
    if (error) throw new UsageError(error.issues[0]?.message ?? 'The password is not valid');
    if (context.io.stdin.isTTY && (await prompt.askSecret('Once more')) !== password)
      throw new CliError('The passwords differ: nothing was changed');
    return password;
  } finally {
    prompt.close();
  }
}

export async function lock(context: Context): Promise<undefined> {
  const [email = ''] = context.args;
  const { id } = await changeAndReport(context, (services) => lockAccount(services, email));
  context.print(
    { id, email, locked: true },
    `Locked ${email}. The sessions of this account have ended, and its API keys are revoked.`,
  );
  return undefined;
}

export async function unlock(context: Context): Promise<undefined> {
  const [email = ''] = context.args;
  const { id } = await changeAndReport(context, (services) => unlockAccount(services, email));
  context.print({ id, email, locked: false }, `Unlocked ${email}. Its API keys stay revoked.`);
  return undefined;
}

export async function removeSecondFactor(context: Context): Promise<undefined> {
  const [email = ''] = context.args;
  const { id, removed } = await changeAndReport(context, (services) => removeSecondFactorOf(services, email));
  const text = removed ? `${email} now signs in without a second factor.` : `${email} has no second factor.`;
  context.print({ id, email, removed }, text);
  return undefined;
}

/** Changes an account, and sends mail about the change to its user. */
function changeAndReport<Result>(
  context: Context,
  work: (services: OperatorServices) => Promise<Result>,
): Promise<Result> {
  return change(context, async (services) => {
    const result = await work(services);
    if (services.sealer === null) context.note('The encryption key is missing: the user gets no mail about this');
    return result;
  });
}

/** Changes an account. An expected failure is reported in one line. */
function change<Result>(context: Context, work: (services: OperatorServices) => Promise<Result>): Promise<Result> {
  return withServices(context, work).catch((error: unknown) => {
    throw error instanceof AppError ? new CliError(error.message, { cause: error }) : error;
  });
}
