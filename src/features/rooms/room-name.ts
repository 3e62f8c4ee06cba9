/** The names of rooms: slugs, unique in the whole service. */
import { randomInt } from 'node:crypto';
import { isSlug } from '../../core/slugs.ts';
import type { Database, Tx } from '../../db/client.ts';
import { adjectives, nouns } from './words.ts';

const TRIES = 8;

/** Whether a text has the format of a name. What has not, is the name of no room. */
export function isRoomName(text: string): boolean {
  return isSlug(text);
}

/** A random name such as `amber-falcon` that no room has now; `amber-falcon-48213` once the short ones get scarce. */
export async function suggestRoomName(db: Database | Tx): Promise<string> {
  const candidates = [...times(twoWords), ...times(withNumber)];
  const rooms = await db.room.findMany({ where: { name: { in: candidates } }, select: { name: true } });
  const taken = new Set(rooms.map(({ name }) => name));
  const free = candidates.find((name) => !taken.has(name));
  if (free === undefined) throw new Error(`No free room name among ${candidates.length}`);
  return free;
}

function times(make: () => string): string[] {
  return Array.from({ length: TRIES }, make);
}

function twoWords(): string {
  return `${pick(adjectives)}-${pick(nouns)}`;
}

function pick(words: readonly string[]): string {
  return words[randomInt(words.length)] ?? '';
}

/** The two words alone have some 75,000 combinations, and with a number enough for ever. */
function withNumber(): string {
  return `${twoWords()}-${randomInt(1_000, 1_000_000)}`;
}
