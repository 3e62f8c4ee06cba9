/**
 * Carries out a write with the header Idempotency-Key only once, and returns the stored response for a repetition
 * (https://datatracker.ietf.org/doc/draft-ietf-httpapi-idempotency-key-header/). Procedures and raw operations call it
 * after the caller has been identified and their role checked, so a repetition needs the same rights.
 */
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Caller } from '../auth/identify.ts';
import { networkOf } from '../auth/networks.ts';
import { hashToken } from '../auth/tokens.ts';
import { type Claim, currentCall, runInBackground } from '../core/call-bounds.ts';
import { AppError, badField, type ErrorCode, forbidden, type Issue } from '../core/errors.ts';
import { httpStatusOf } from '../core/problem.ts';
import { systemTicker } from '../core/ticker.ts';
import { isForeignKeyViolation } from '../db/errors.ts';
import {
  claimKey,
  freeKey,
  type KeyState,
  keyInUse,
  RENEWAL_MS,
  renewLease,
  storeAnswer,
} from '../db/idempotency-keys.ts';
import type { Context } from './context.ts';

const KEY = /^[!-~]{1,255}$/;
/** 128 random bits have 22 characters in base64. */
const SECRET = /^[!-~]{22,255}$/;
/** A larger response is not stored. Writes return one resource or a short list, so their responses are far smaller. */
const MAX_ANSWER_LENGTH = 256 * 1024;
/** The error responses that are stored. Others, such as invalid input, leave the key free for a corrected request. */
const storedCodes: readonly ErrorCode[] = ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'];

/** The owner of a key. If two callers send the same key, their requests are unrelated. */
export type KeyOwner = {
  caller: string;
  userId: number | null;
  workspaceId: number | null;
  /** Set if several people may be this owner. Their responses are not stored, so that none gets that of another. */
  isShared?: true;
};

/** A write with an idempotency key. */
export type KeyedCall = {
  key: string;
  owner: KeyOwner;
  /** The name of the operation, and its input, excluding a body that is read as a stream. */
  operation: string;
  input: unknown;
  /**
   * Whether the operation itself checks roles. If so, its response is not replayed to a caller who has since lost a
   * role.
   */
  checksRoles: boolean;
  /** Returns the hash of a body that is read as a stream, once it has been read. */
  hashBody?: () => Uint8Array;
};

const WithResult = z.object({ data: z.record(z.string(), z.unknown()) });
const WithWorkspace = z.object({ workspace_id: z.int() });
const WithId = z.object({ id: z.int() });

export type Outcome = { data: unknown } | { refusal: AppError } | { failure: unknown };

/** The stored response to a repeated call. */
export type Repetition = {
  /** Call this after the body has been read. Throws 422 if it differs from the body of the first call. */
  requireSameBody(bodyHash: Uint8Array): void;
  /** Returns the result of the first call, or throws its error. */
  replay(): unknown;
};

/** This is the first call with the key. */
export type Attempt = {
  /** Stores the response, or frees the key. Never rejects. */
  settle(outcome: Outcome): Promise<void>;
};

type StoredAnswer = { data: unknown } | { error: { code: ErrorCode; message: string; issues?: readonly Issue[] } };

/**
 * The owner of the idempotency keys that a caller sends. The sessions of a user share one owner; each API key and
 * connected app has its own, even after the workspace has been transferred to another user.
 */
export function ownerOfCaller(
  { userId, credential }: Pick<Caller, 'userId' | 'credential'>,
  workspaceId: number | null,
): KeyOwner {
  if (credential.kind === 'session') return { caller: `user:${userId}`, userId, workspaceId };
  const { id, isApp, embed, isOfWorkspace, workspaceId: ofKey } = credential;
  const kind = embed ? 'embed' : isApp ? 'app' : 'key';
  return { caller: `${kind}:${id}`, userId: isOfWorkspace ? null : userId, workspaceId: ofKey };
}

/** The owner of the idempotency keys that a participant of a room sends. */
export function ownerOfParticipant({ id, workspaceId }: { id: number; workspaceId: number }): KeyOwner {
  return { caller: `participant:${id}`, userId: null, workspaceId };
}

/**
 * The owner of the keys of a caller without a credential: the holder of the `token` that the call names, or of the
 * Idempotency-Secret that it sends. Without either, it is the network, because a program may send the same key for
 * everyone who uses it. Throws 400 for an invalid Idempotency-Secret.
 */
export function ownerOfGuest({ address, idempotencySecret }: Context, token: string | null): KeyOwner {
  if (idempotencySecret !== null && !SECRET.test(idempotencySecret))
    throw badField('Idempotency-Secret', 'Idempotency-Secret must have 22 to 255 visible ASCII characters');
  const secret = token ?? idempotencySecret;
  const ids = { userId: null, workspaceId: null };
  if (secret === null) return { ...ids, caller: `network:${networkOf(address)}`, isShared: true };
  return { ...ids, caller: `guest:${Buffer.from(hashToken(secret)).toString('base64url')}` };
}

/**
 * Claims the key for the call in progress. Throws 400 for an invalid key; 422 if the key was used for a different
 * request; 409 if an earlier request with the key is still being carried out, or was carried out but its response was
 * not stored. If the caller has lost the role that the stored response requires, throws 409 if the request succeeded,
 * and 403 if it was rejected.
 */
export async function beginCall(context: Context, call: KeyedCall): Promise<Attempt | Repetition> {
  const { key, owner, operation, input } = call;
  const { db, clock, sealer } = context.services;
  if (!KEY.test(key)) throw badField('Idempotency-Key', 'Idempotency-Key must have 1 to 255 visible ASCII characters');
  const request = JSON.stringify([operation, toSorted(input)]);
  const fingerprint = sealer.fingerprint(request);
  const claim: Claim = {
    caller: owner.caller,
    key,
    lease: randomUUID(),
    isAnswered: false,
    toStored: sealAnswer(context, call),
  };
  let state: KeyState | undefined;
  try {
    state = await claimKey(db.sql, clock.now(), { ...owner, ...claim, fingerprint });
  } catch (error) {
    // The account or the workspace was deleted a moment ago. The operation will report that.
    if (isForeignKeyViolation(error)) return { settle: async () => {} };
    throw error;
  }
  if (state?.isClaimed) return startAttempt(context, call, claim);
  // Another request inserted the key, and this one waited for that insert to finish.
  if (!state?.fingerprint) throw keyInUse();
  return toRepetition(context, call, { ...state, isSame: sealer.hasFingerprint(request, state.fingerprint) });
}

/** Sorts the fields of objects, so that their order makes no difference. Transports limit the depth of the input. */
function toSorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(toSorted);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, toSorted(field)]));
}

/** All responses are sealed: many contain a secret or personal data, and this way, nobody has to remember which. */
function sealAnswer({ services }: Context, { key, owner, checksRoles, hashBody }: KeyedCall): Claim['toStored'] {
  return (answer) => {
    const text = JSON.stringify(answer);
    const isStored = text.length <= MAX_ANSWER_LENGTH && !owner.isShared;
    return {
      answer: isStored ? services.sealer.seal(text, toContext(owner, key)) : null,
      bodyHash: hashBody?.() ?? null,
      withRoles: checksRoles,
      workspaceId: findWorkspaceId(answer),
    };
  };
}

/** The workspace of the operation, if the result names it. */
function findWorkspaceId(answer: unknown): number | null {
  const { success, data } = WithResult.safeParse(answer);
  if (!success) return null;
  for (const [name, value] of Object.entries(data.data)) {
    const record = WithWorkspace.safeParse(value);
    if (record.success) return record.data.workspace_id;
    const workspace = WithId.safeParse(value);
    if (name === 'workspace' && workspace.success) return workspace.data.id;
  }
  return null;
}

function toContext({ caller }: KeyOwner, key: string) {
  return { owner: `${caller} ${key}`, purpose: 'stored answer' } as const;
}

/** Keeps the lease while the call is in progress, and lets its transactions record that it was carried out. */
function startAttempt({ services }: Context, { hashBody, owner }: KeyedCall, claim: Claim): Attempt {
  const { db, clock, log } = services;
  const call = currentCall.getStore();
  if (call) call.claim = claim;
  const inBackground = async (what: string, work: () => Promise<void>): Promise<void> => {
    await runInBackground(work).catch((error: unknown) => log.warn({ err: error }, `Failed to ${what}`));
  };
  const renew = () => renewLease(db.sql, clock.now(), claim);
  const stop = systemTicker.every(RENEWAL_MS, () => void inBackground('renew the lease of an idempotency key', renew));
  return {
    async settle(outcome) {
      stop();
      if (call) call.claim = null;
      if (claim.isAnswered && 'data' in outcome) return;
      // The body of a rejected upload may not have been read. Stored error responses to unknown callers could fill the
      // table, because they can call from many networks. If such a request is sent again, it is rejected again.
      const isUnknown = owner.userId === null && owner.workspaceId === null;
      const answer = (hashBody || isUnknown) && !('data' in outcome) ? null : toAnswer(outcome);
      await inBackground('store the answer to a request with an idempotency key', () =>
        answer === null
          ? freeKey(db.sql, clock.now(), claim, { isRefusal: isRefusal(outcome) })
          : storeAnswer(db.sql, claim, answer),
      );
    },
  };
}

/** Returns null for an outcome that is not stored, because the next call may have a different outcome. */
function toAnswer(outcome: Outcome): StoredAnswer | null {
  if ('data' in outcome) return { data: outcome.data };
  if (!isRefusal(outcome)) return null;
  const { code, message, issues, isTransient } = outcome.refusal;
  if (!storedCodes.includes(code) || isTransient) return null;
  return { error: { code, message, ...(issues && { issues }) } };
}

/** Whether the operation rejected the call, and therefore changed nothing. */
function isRefusal(outcome: Outcome): outcome is { refusal: AppError } {
  return 'refusal' in outcome && httpStatusOf(outcome.refusal) < 500;
}

function toRepetition(
  context: Context,
  { key, owner }: KeyedCall,
  { isSame, isExecuted, leasedUntil, answer, bodyHash, hasRoles }: KeyState & { isSame: boolean },
): Repetition {
  if (!isSame) throw keyReused();
  if (answer === null || owner.isShared) {
    const remainingMs = Number(leasedUntil) - context.services.clock.now().getTime();
    throw remainingMs > 0 || !isExecuted ? keyInUse(remainingMs) : answerLost();
  }
  // `as`: `sealAnswer` seals only a StoredAnswer.
  const stored = JSON.parse(context.services.sealer.open(answer, toContext(owner, key))) as StoredAnswer;
  if (!hasRoles) throw 'data' in stored ? answerHidden() : forbidden();
  return {
    requireSameBody(hash) {
      if (bodyHash === null || Buffer.compare(bodyHash, hash) !== 0) throw keyReused();
    },
    replay() {
      context.setHeader('idempotency-replayed', 'true');
      if ('data' in stored) return stored.data;
      const { code, message, issues } = stored.error;
      throw new AppError(code, message, issues && { issues });
    },
  };
}

function keyReused(): AppError {
  return new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was already used for a different request');
}

function answerLost(): AppError {
  return new AppError(
    'IDEMPOTENCY_ANSWER_LOST',
    'The request with this Idempotency-Key was carried out, but its response was not stored: check what it changed',
  );
}

function answerHidden(): AppError {
  return new AppError(
    'IDEMPOTENCY_ANSWER_LOST',
    'The request with this Idempotency-Key was carried out, but you no longer have the role that its response requires',
  );
}
