/** Finds the participant who joins again while still present, for example after reloading the page. */
import type { Caller } from '../../auth/identify.ts';
import { createToken, hashToken, isToken } from '../../auth/tokens.ts';
import type { Sealer } from '../../core/sealing.ts';
import { Prisma, type Tx } from '../../db/client.ts';

type Room = { workspaceId: number; roomId: number };

/** `token` is the one that the participant uses from now on: normally the one that they already have. */
export type Present = { id: number; token: string };

/**
 * Finds the participant of the room who waits or has joined: the holder of `token`, or else the caller. The token of
 * another user is ignored. Stores a heartbeat. Call it with the workspace locked.
 */
export async function findPresent(
  { tx, sealer, now }: { tx: Tx; sealer: Sealer; now: Date },
  room: Room,
  caller: Caller | null,
  token: string | null | undefined,
): Promise<Present | null> {
  const { workspaceId } = room;
  const find = (condition: Prisma.Sql) => touch(tx, now, room, condition);
  if (token && isToken('lnp_', token)) {
    const isOwn = caller === null ? Prisma.empty : Prisma.sql`and (p.user_id is null or p.user_id = ${caller.userId})`;
    const holder = await find(Prisma.sql`p.token_hash = ${hashToken(token)} ${isOwn}`);
    if (holder !== null) return { id: holder.id, token };
  }
  if (caller === null) return null;
  const user = await find(Prisma.sql`p.user_id = ${caller.userId} and p.sealed_token is not null`);
  if (user === null || user.sealedToken === null) return null;
  const own = openToken(sealer, user.sealedToken, workspaceId) ?? (await replaceToken(tx, sealer, room, user.id));
  return { id: user.id, token: own };
}

/** Null if the encryption key has changed since the participant joined. */
function openToken(sealer: Sealer, sealedToken: Uint8Array, workspaceId: number): string | null {
  try {
    return sealer.open(sealedToken, { workspaceId, purpose: 'participant token' });
  } catch {
    return null;
  }
}

async function replaceToken(tx: Tx, sealer: Sealer, { workspaceId }: Room, id: number): Promise<string> {
  const token = createToken('lnp_');
  const sealedToken = sealer.seal(token, { workspaceId, purpose: 'participant token' });
  await tx.participant.updateMany({ where: { workspaceId, id }, data: { tokenHash: hashToken(token), sealedToken } });
  return token;
}

async function touch(tx: Tx, now: Date, { workspaceId, roomId }: Room, condition: Prisma.Sql) {
  const [row] = await tx.$queryRaw<{ id: number; sealedToken: Uint8Array | null }[]>`
    update participants p set last_seen_at = greatest(p.last_seen_at, ${now})
    where p.workspace_id = ${workspaceId} and p.room_id = ${roomId} and p.status in ('waiting', 'joined')
      and ${condition}
    returning p.id, p.sealed_token as "sealedToken"`;
  return row ?? null;
}
