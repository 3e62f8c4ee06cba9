/** `lynxroom keys`: which encryption keys are in use, and whether an earlier one can be removed. */
import { CliError, type Context } from '@lynxroom/cli';
import type { Sealer } from '../core/sealing.ts';
import { connect } from '../db/connect.ts';
import { countByKey, type SealedCount } from '../key-rotation/count-by-key.ts';
import { encryptionKeyPath, readSealer } from '../runtime/secrets.ts';
import { createLog, readSettings, withDatabase } from './settings.ts';

type KeyUse = {
  id: string | null;
  state: 'newest' | 'previous' | 'unknown' | 'unnamed';
  sealed: Record<string, number>;
};

/** Resolves with 1 if something is sealed with a key that is not configured. */
export async function keys(context: Context): Promise<number> {
  const config = readSettings(context);
  const sealer = await readSealer(config);
  if (sealer === null)
    throw new CliError(`The encryption key is missing: restore ${encryptionKeyPath(config)}, or set ENCRYPTION_KEY`);
  const counts = await withDatabase(config, createLog(context), async (url) => {
    const client = await connect(url, 'keys', createLog(context));
    return countByKey(client).finally(() => client.end());
  });
  const uses = toUses(sealer, counts);
  const removable = removableKeys(sealer, counts);
  const lines = [...uses.map(describeUse), '', ...describeNext(sealer, counts, removable)];
  context.print({ keys: uses, removable }, lines.join('\n'));
  return uses.some(({ state }) => state === 'unknown') ? 1 : 0;
}

function toUses({ keyIds }: Sealer, counts: readonly SealedCount[]): KeyUse[] {
  const ids = new Set<string | null>([...keyIds, ...counts.map(({ keyId }) => keyId)]);
  return [...ids].map((id) => ({
    id,
    state: stateOf(keyIds, id),
    sealed: Object.fromEntries(
      counts.filter(({ keyId }) => keyId === id).map(({ purpose, count }) => [purpose, count]),
    ),
  }));
}

function stateOf([newest, ...previous]: readonly string[], id: string | null): KeyUse['state'] {
  if (id === null) return 'unnamed';
  if (id === newest) return 'newest';
  return previous.includes(id) ? 'previous' : 'unknown';
}

/**
 * The previous keys with which nothing is sealed. Empty if some sealed data names no key, because any previous key may
 * have sealed that data.
 */
function removableKeys({ keyIds }: Sealer, counts: readonly SealedCount[]): string[] {
  if (counts.some(({ keyId }) => keyId === null)) return [];
  return keyIds.slice(1).filter((id) => counts.every(({ keyId }) => keyId !== id));
}

function describeUse({ id, state, sealed }: KeyUse): string {
  const list = Object.entries(sealed).map(([purpose, count]) => `${count} × ${purpose}`);
  const name = id === null ? 'without a key id' : `${state} key ${id}`;
  return `${name}: ${list.join(', ') || 'nothing'}`;
}

function describeNext({ keyIds }: Sealer, counts: readonly SealedCount[], removable: readonly string[]): string[] {
  const unknown = counts.flatMap(({ keyId }) => (keyId !== null && !keyIds.includes(keyId) ? [keyId] : []));
  const missing = [...new Set(unknown)].map(
    (id) => `The key ${id} is not configured, so its data cannot be opened: list it in ENCRYPTION_KEY_PREVIOUS.`,
  );
  if (keyIds.length === 1) return [...missing, 'One key is configured. docs/rotate-keys.md explains how to rotate it.'];
  const waiting = keyIds.length - 1 - removable.length;
  return [
    ...missing,
    ...removable.map((id) => `Nothing is sealed with the previous key ${id}: it can be removed.`),
    ...(waiting > 0
      ? [
          'Data that is still sealed with a previous key is re-sealed with the newest key by a worker, in the ' +
            'background, every 10 minutes.',
        ]
      : []),
  ];
}
