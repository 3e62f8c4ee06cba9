import type { Actor } from '../../auth/identify.ts';
import type { Prisma, Tx } from '../../db/client.ts';
import type { TrashKind } from './schemas.ts';

/** What has left its own table. `record` is its row, from which it is restored. */
export type NewTrashEntry = {
  kind: TrashKind;
  resourceId: number;
  /** The room of a recording. */
  roomId: number | null;
  /** Whether a recording is moved with its room. */
  withRoom?: boolean;
  name: string;
  size: number;
  fileKey: string | null;
  posterKey: string | null;
  createdBy: number | null;
  createdAt: Date;
  record: Readonly<Record<string, unknown>>;
};

/** Adds entries to the trash, and returns their IDs. Call it with the workspace locked. */
export async function addEntries(
  tx: Tx,
  at: Date,
  { workspaceId, userId }: Pick<Actor, 'workspaceId' | 'userId'>,
  entries: readonly NewTrashEntry[],
): Promise<number[]> {
  const rows = await tx.trashEntry.createManyAndReturn({
    data: entries.map(({ record, ...entry }) => ({
      workspaceId,
      ...entry,
      // `as`: the database has returned the record as JSON.
      record: record as Prisma.InputJsonObject,
      trashedBy: userId,
      trashedAt: at,
    })),
    select: { id: true },
  });
  return rows.map(({ id }) => id);
}
