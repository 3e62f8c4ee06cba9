/** What the others see of a page: whether its microphone and camera are on, and whether it shares a screen. */
import { AppError } from '../../core/errors.ts';
import { bool, int, nullable, type Sql, statement, text } from '../../db/statements.ts';
import type { PageKey } from './meeting-pages.ts';
import { connectionReplaced } from './signals.ts';

/** A flag that is undefined does not change. */
export type PageState = Partial<Record<'microphone' | 'camera' | 'screen', 0 | 1 | boolean | undefined>>;

const store = statement('store-page-state', {
  params: {
    workspaceId: int,
    participantId: int,
    connectionId: text,
    microphone: nullable(bool),
    camera: nullable(bool),
    screen: nullable(bool),
  },
  returns: { isReplaced: bool },
  sql: `
    update meeting_pages set microphone = coalesce($microphone, microphone), camera = coalesce($camera, camera),
      screen = coalesce($screen, screen)
    where workspace_id = $workspaceId and participant_id = $participantId and connection_id = $connectionId
    returning replaced_at is not null as "isReplaced"`,
});

/**
 * Stores the state of a page, which the others then see. Throws 409 CONNECTION_REPLACED if another page of the
 * participant has replaced it, and CONNECTION_NOT_OPEN if it has never opened a stream with peers.
 */
export async function storePageState(sql: Sql, page: PageKey, state: PageState): Promise<void> {
  const { workspaceId, participantId, connectionId } = page;
  const flags = {
    microphone: toBool(state.microphone),
    camera: toBool(state.camera),
    screen: toBool(state.screen),
  };
  const [row] = await sql.run(store, { workspaceId, participantId, connectionId, ...flags });
  if (row === undefined)
    throw new AppError('CONNECTION_NOT_OPEN', 'Open the stream with this connection_id first', { isTransient: true });
  if (row.isReplaced) throw connectionReplaced();
}

function toBool(flag: 0 | 1 | boolean | undefined): boolean | null {
  return flag === undefined ? null : Boolean(flag);
}
