import { recordAudit } from '../../audit/record-audit.ts';
import { auditActorOf } from '../../auth/audit-actor.ts';
import type { Actor } from '../../auth/identify.ts';
import { createToken, hashToken } from '../../auth/tokens.ts';
import { lockWorkspaceAs } from '../../auth/workspace-lock.ts';
import { type AppError, badField, conflictForNow, notFound } from '../../core/errors.ts';
import type { Metadata } from '../../core/metadata.ts';
import { readSlug } from '../../core/slugs.ts';
import { DAY_MS, fromUnixSeconds } from '../../core/time.ts';
import { type Tx, transact } from '../../db/client.ts';
import { sqlIn } from '../../db/sql.ts';
import { bool, bytes, int, json, nullable, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { passColumns, passReturns } from './pass-columns.ts';
import {
  type CreatedParticipant,
  type CreateParticipantInput,
  type ExpectedParticipant,
  MAX_PASS_DAYS,
  MAX_PASSES_PER_ROOM,
} from './schemas.ts';

/**
 * The pass of an `external_id` is replaced: the link before it ends, and what it said. Its visits go on. Returns no row
 * if the room has as many others as it can have. Concurrent calls may exceed that by a few.
 */
const upsertPass = statement('make-room-pass', {
  params: {
    workspaceId: int,
    roomName: text,
    name: text,
    email: nullable(text),
    externalId: nullable(text),
    isHost: bool,
    isAdmitted: bool,
    mayRecord: nullable(bool),
    metadata: nullable(json<Metadata>()),
    linkHash: bytes,
    userId: int,
    keyId: nullable(int),
    grantId: nullable(int),
    now: time,
    expiresAt: time,
  },
  returns: { ...passReturns, room_id: int },
  sql: `
    with room as (
      select r.workspace_id, r.id from rooms r where r.workspace_id = $workspaceId and r.name = $roomName),
    others as (
      select count(*) as count from (
        select from room r join room_passes q on q.workspace_id = r.workspace_id and q.room_id = r.id
        where q.expires_at > $now and ($externalId is null or q.external_id is distinct from $externalId)
        limit ${MAX_PASSES_PER_ROOM}) q),
    made as (
      insert into room_passes (workspace_id, room_id, name, email, external_id, is_host, is_admitted, may_record,
        metadata, link_hash, created_by, key_id, grant_id, created_at, expires_at)
      select r.workspace_id, r.id, $name, $email, $externalId, $isHost, $isAdmitted, $mayRecord, $metadata, $linkHash,
        $userId, $keyId, $grantId, $now, $expiresAt
      from room r join others o on o.count < ${MAX_PASSES_PER_ROOM}
      on conflict (workspace_id, room_id, external_id) do update
      set name = excluded.name, email = excluded.email, is_host = excluded.is_host, is_admitted = excluded.is_admitted,
        may_record = excluded.may_record, metadata = excluded.metadata, link_hash = excluded.link_hash,
        created_by = excluded.created_by, key_id = excluded.key_id, grant_id = excluded.grant_id,
        created_at = excluded.created_at, expires_at = excluded.expires_at
      returning *)
    select ${passColumns}, q.room_id
    from made q`,
});

/**
 * Makes a pass for a person, with a link that works once. For an `external_id` that the room knows, replaces the pass:
 * an earlier link that was not used ends, and the visit in progress goes on. `appUrl` is where the console is. Throws
 * 400 for an expiry in the past or too far ahead, 403 if the actor is no longer owner or admin, and 404 "Room not
 * found", and 409 if the room has too many passes.
 */
export function createPass(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  actor: Actor,
  { roomName: sentName, external_id, email, is_host, admitted, may_record, metadata, ...input }: CreateParticipantInput,
  appUrl: string,
): Promise<CreatedParticipant> {
  const roomName = readSlug(sentName);
  if (roomName === null) throw notFound('Room');
  const now = clock.now();
  const expiresAt = toExpiry(input.expires_at, now);
  const token = createToken('lnj_');
  return transact(db, async (tx) => {
    // With the lock, what ends the rights of the maker either sees this pass or is seen here.
    await lockWorkspaceAs(tx, actor, 'admin');
    const [row] = await sqlIn(tx).run(upsertPass, {
      workspaceId: actor.workspaceId,
      roomName,
      name: input.name,
      email: email ?? null,
      externalId: external_id ?? null,
      isHost: Boolean(is_host),
      isAdmitted: Boolean(admitted),
      mayRecord: may_record === undefined ? null : Boolean(may_record),
      metadata: metadata ?? null,
      linkHash: hashToken(token),
      ...toMaker(actor),
      now,
      expiresAt,
    });
    if (!row) throw await whyNone(tx, actor.workspaceId, roomName);
    const { room_id: roomId, ...participant } = row;
    await recordAudit(tx, {
      workspaceId: actor.workspaceId,
      at: now,
      actor: auditActorOf(actor),
      action: 'room.pass_created',
      target: { kind: 'room', id: roomId, name: roomName },
      after: { pass_id: row.id, is_host: row.is_host, admitted: row.admitted, may_record: row.may_record },
    });
    return {
      participant: participant satisfies ExpectedParticipant,
      token,
      join_url: toJoinUrl(appUrl, roomName, token),
    };
  });
}

async function whyNone(tx: Tx, workspaceId: number, name: string): Promise<AppError> {
  if ((await tx.room.count({ where: { workspaceId, name } })) === 0) return notFound('Room');
  return conflictForNow(`A room has at most ${MAX_PASSES_PER_ROOM} passes that have not expired`);
}

function toMaker({ userId, credential }: Actor): { userId: number; keyId: number | null; grantId: number | null } {
  const key = credential?.kind === 'key' ? credential : null;
  return { userId, keyId: key && !key.isApp ? key.id : null, grantId: key?.isApp ? key.id : null };
}

function toExpiry(sent: number | undefined, now: Date): Date {
  const latest = new Date(now.getTime() + MAX_PASS_DAYS * DAY_MS);
  const expiresAt = sent === undefined ? new Date(now.getTime() + DAY_MS) : fromUnixSeconds(sent);
  if (expiresAt <= now) throw badField('expires_at', 'expires_at must be in the future');
  if (expiresAt > latest) throw badField('expires_at', `expires_at must be at most ${MAX_PASS_DAYS} days ahead`);
  return expiresAt;
}

/** Browsers send a fragment to no server, and no page that is linked from this one sees it. */
function toJoinUrl(appUrl: string, roomName: string, token: string): string {
  return `${appUrl}/room/${roomName}#token=${token}`;
}
