import { secondsOf } from '../../db/columns.ts';
import { bool, float, int, nullable, type Sql, statement, text } from '../../db/statements.ts';
import { queueMails } from '../../mail/queue-mail.ts';
import type { Services } from '../../services.ts';

/** Guests have no account, so they are never among the readers. */
const readersOf = statement('find-readers-of-recording-mail', {
  params: { workspaceId: int, recordingId: int },
  returns: {
    userId: int,
    email: text,
    mayWatch: bool,
    roomName: text,
    title: nullable(text),
    recordedAt: float,
  },
  sql: `
    select u.id as "userId", u.email,
      coalesce(r.user_id = u.id or m.role in ('owner', 'admin') or r.recordings_visible_to = 'members', false)
        and m.user_id is not null as "mayWatch", r.name as "roomName", c.title,
      ${secondsOf('c.created_at')} as "recordedAt"
    from recordings c
    join rooms r on r.workspace_id = c.workspace_id and r.id = c.room_id
    left join participants p on p.workspace_id = c.workspace_id and p.id = c.started_by
    join users u on u.id = r.user_id or u.id = p.user_id
    left join members m on m.workspace_id = c.workspace_id and m.user_id = u.id
    where c.workspace_id = $workspaceId and c.id = $recordingId
      and u.recording_mail and u.email_verified_at is not null and u.locked_at is null`,
});

/**
 * Queues the mail that a recording is ready: to the user to whom the room belongs, and to the signed-in person who
 * started it, if they have confirmed their address and have not switched the mail off. Call it in the transaction in
 * which the recording becomes available, which happens once. The mail has a link for those who may watch it. Somebody
 * who gets too many of them gets no more.
 */
export async function mailReadyRecording(
  services: Pick<Services, 'sealer' | 'clock'>,
  sql: Sql,
  { workspaceId, recordingId }: { workspaceId: number; recordingId: number },
): Promise<void> {
  const readers = await sql.run(readersOf, { workspaceId, recordingId });
  await queueMails(
    services,
    sql,
    readers.map(({ userId, email, mayWatch, roomName, title, recordedAt }) => ({
      kind: 'recording-ready',
      workspaceId,
      to: email,
      data: { roomName, title, recordedAt, link: mayWatch ? `/w/${workspaceId}/rooms/${roomName}` : null },
      dedupeKey: `recording-ready:${workspaceId}:${recordingId}:${userId}`,
    })),
  );
}
