/** Generates room names. A room name is a slug that is unique across the whole service. */
import { randomInt } from 'node:crypto';
import { type Sql, statement, text, texts } from '../../db/statements.ts';
import { adjectives, nouns } from './name-words.ts';

/** How many names of each form one query looks up. */
const CANDIDATES = 8;

const takenNames = statement('find-taken-room-names', {
  params: { candidates: texts },
  returns: { name: text },
  sql: `
    select name from rooms where name = any($candidates)
    union all select record->>'name' from trash_entries where kind = 'room' and record->>'name' = any($candidates)`,
});

/** A condition for SQL: no room in the trash, which keeps its name, has the name `$roomName`. */
export const isNotInTrash = `
        not exists (select from trash_entries where kind = 'room' and record->>'name' = $roomName)`;

/**
 * Returns a random name that no room has, such as `amber-falcon`, or `amber-falcon-48213` if none of the short names is
 * free.
 */
export async function suggestRoomName(sql: Sql): Promise<string> {
  const candidates = generateRoomNames();
  const free = await findFreeName(sql, candidates);
  if (free === undefined) throw new Error(`No free room name among ${candidates.length}`);
  return free;
}

/** Returns the first of these names that no room has. */
export async function findFreeName(sql: Sql, candidates: string[]): Promise<string | undefined> {
  const rooms = await sql.run(takenNames, { candidates });
  const taken = new Set(rooms.map(({ name }) => name));
  return candidates.find((name) => !taken.has(name));
}

/** Returns random names, some of which may be taken. The longer names with a number come last. */
export function generateRoomNames(): string[] {
  return [...generate(twoWords), ...generate(twoWordsAndNumber)];
}

function generate(createName: () => string): string[] {
  return Array.from({ length: CANDIDATES }, createName);
}

/** Returns a random name with a number. It is hardly ever taken. */
export function generateLongRoomName(): string {
  return twoWordsAndNumber();
}

/** About 80,000 combinations. */
function twoWords(): string {
  return `${pick(adjectives)}-${pick(nouns)}`;
}

function pick(words: readonly string[]): string {
  return words[randomInt(words.length)] ?? '';
}

/** About 80 billion combinations. */
function twoWordsAndNumber(): string {
  return `${twoWords()}-${randomInt(1_000, 1_000_000)}`;
}
