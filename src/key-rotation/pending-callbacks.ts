/**
 * The sealed links in callbacks that are not applied yet. The links are stored within JSON. Most callbacks are applied
 * as soon as they arrive, and the links of an applied callback are never opened again.
 */
import { keyIdOf, type Sealer } from '../core/sealing.ts';
import type { Database } from '../db/client.ts';
import { bool, int, json, statement, text } from '../db/statements.ts';
import { attempt } from './attempt.ts';

/**
 * How many callbacks one pass reads. More callbacks than this are pending only if the service cannot apply any. The
 * next pass reads the rest.
 */
const MAX_CALLBACKS = 10_000;
/** The fields with sealed values (see `callback-store.ts` of the meeting providers). */
const SEALED_FIELDS = ['token', 'url'];

const readPending = statement('read-pending-callbacks', {
  params: { max: int },
  returns: { place: text, workspaceId: int, facts: json<unknown>() },
  sql: `
    select ctid::text as place, workspace_id as "workspaceId", facts from ingest_events
    where applied_at is null limit $max`,
});

const replaceFacts = statement('reseal-callback', {
  params: { place: text, facts: json<unknown>(), resealed: json<unknown>() },
  returns: { isDone: bool },
  sql: `
    update ingest_events set facts = $resealed
    where ctid = $place::tid and facts = $facts and applied_at is null returning true as "isDone"`,
});

/**
 * Seals the links again with the newest key. Returns the number of changed callbacks, and an error message for each
 * callback that could not be opened.
 */
export async function resealPendingCallbacks({
  db,
  sealer,
}: {
  db: Database;
  sealer: Sealer;
}): Promise<{ resealed: number; failures: string[] }> {
  const failures: string[] = [];
  let count = 0;
  for (const { place, workspaceId, facts } of await db.sql.run(readPending, { max: MAX_CALLBACKS })) {
    const context = { workspaceId, purpose: 'recording link' } as const;
    const toNewest = (sealed: Uint8Array): Uint8Array =>
      keyIdOf(sealed) === sealer.keyIds[0] ? sealed : sealer.seal(sealer.open(sealed, context), context);
    const resealed = attempt(() => mapSealed(facts, toNewest));
    if (resealed instanceof Error) {
      failures.push(resealed.message);
      continue;
    }
    if (JSON.stringify(resealed) === JSON.stringify(facts)) continue;
    count += (await db.sql.run(replaceFacts, { place, facts, resealed })).length;
  }
  return { resealed: count, failures };
}

/** Returns the ids of the keys that sealed the links of a callback; null for a link that names no key. */
export function keyIdsIn(facts: unknown): (string | null)[] {
  const ids: (string | null)[] = [];
  mapSealed(facts, (sealed) => {
    ids.push(keyIdOf(sealed));
    return sealed;
  });
  return ids;
}

function mapSealed(value: unknown, map: (sealed: Uint8Array) => Uint8Array): unknown {
  if (Array.isArray(value)) return value.map((entry) => mapSealed(entry, map));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name,
      typeof field === 'string' && SEALED_FIELDS.includes(name)
        ? Buffer.from(map(Buffer.from(field, 'base64'))).toString('base64')
        : mapSealed(field, map),
    ]),
  );
}
