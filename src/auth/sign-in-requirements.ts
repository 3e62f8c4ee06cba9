/**
 * A workspace may require a second factor, or signing in by an OpenID provider. Members whose session does not satisfy
 * this get 403 in the workspace. API keys are not affected. The query that identifies the caller finds what is unmet.
 */
import { AppError } from '../core/errors.ts';
import { json, nullable, oneOf } from '../db/statements.ts';

/** What a workspace requires of the sessions of its members. */
export const signInRequirements = ['second_factor', 'provider'] as const;
export type SignInRequirement = (typeof signInRequirements)[number];

/** The requirements that a session does not satisfy, by the ID of the workspace. */
export type UnmetRequirements = Readonly<Record<number, SignInRequirement>>;

/** The columns of `unmetBy` and `allUnmetBy`. */
export const unmetColumns = {
  unmet: nullable(oneOf<SignInRequirement>()),
  unmet_in: nullable(json<UnmetRequirements>('json')),
};

/**
 * SQL for the requirement of the workspace `w` that the session, connected app or calendar feed `credential` does
 * not satisfy, or null. `credential` is an alias of a row of `sessions`, `oauth_grants` or `calendar_feeds`.
 */
export function unmetBy(credential: string): string {
  return `case w.required_sign_in
      when 'second_factor' then case when ${credential}.second_factor_at is null then 'second_factor' end
      when 'provider' then case when ${credential}.openid_issuer is distinct from w.required_issuer then 'provider' end
    end`;
}

/** 403 for a member whose session does not satisfy what the workspace requires. Says what to do. */
export function signInRequired(unmet: SignInRequirement): AppError {
  return unmet === 'second_factor'
    ? new AppError(
        'WORKSPACE_REQUIRES_SECOND_FACTOR',
        'This workspace requires a second factor: set one up (POST /api/auth/second-factor), or sign in again with ' +
          'yours. An app has to be connected again after that',
      )
    : new AppError(
        'WORKSPACE_REQUIRES_PROVIDER',
        'This workspace requires signing in by its OpenID provider: sign in again there ' +
          '(POST /api/auth/openid/start). An app has to be connected again after that',
      );
}

/**
 * SQL for a JSON object with the workspaces of the user `u` whose requirements `credential` does not satisfy, by ID.
 * Null if there are none, and if the call names a workspace (`$workspaceId`).
 */
export function allUnmetBy(credential: string): string {
  return `case when $workspaceId is null then (
      select json_object_agg(w.id, ${unmetBy(credential)}) from members m join workspaces w on w.id = m.workspace_id
      where m.user_id = u.id and ${unmetBy(credential)} is not null) end`;
}

/**
 * Throws 403 if the workspace requires more of its members than the caller's session satisfies. For operations that
 * name a room or a recording and not its workspace; `requireRole` does it for all others.
 */
export function requireSatisfied({ unmetIn }: { unmetIn: UnmetRequirements }, workspaceId: number): void {
  const unmet = unmetIn[workspaceId];
  if (unmet !== undefined) throw signInRequired(unmet);
}
