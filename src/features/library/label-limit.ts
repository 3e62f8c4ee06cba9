/** What an embed token that is limited to a label reaches of the library. */
import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { int, type Sql, statement } from '../../db/statements.ts';

/** The label of the items that the actor may see, and that uploads get. Null without such a limit. */
export function limitingLabelOf({ credential }: Pick<Actor, 'credential'>): number | null {
  const embed = credential?.kind === 'key' ? credential.embed : undefined;
  return embed?.kind === 'library' ? embed.labelId : null;
}

const findItemLabel = statement('find-item-label', {
  params: { workspaceId: int, itemId: int, labelId: int },
  returns: { item_id: int },
  sql: `
    select item_id from item_labels
    where workspace_id = $workspaceId and item_id = $itemId and label_id = $labelId`,
});

/** Throws 404 for an item without the label to which the actor is limited. */
export async function requireInReach(sql: Sql, actor: Actor, itemId: number): Promise<void> {
  const labelId = limitingLabelOf(actor);
  if (labelId === null) return;
  const [found] = await sql.run(findItemLabel, { workspaceId: actor.workspaceId, itemId, labelId });
  if (!found) throw notFound('Item');
}
