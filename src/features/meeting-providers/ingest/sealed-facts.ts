/** Facts as they are kept until they are applied, and for a while after that. */
import type { Sealer } from '../../../core/sealing.ts';
import type { Prisma } from '../../../db/client.ts';
import type { MeetingFact } from '../adapters/facts.ts';

/** As JSON, with secrets sealed. */
export function keepFacts(sealer: Sealer, workspaceId: number, facts: readonly MeetingFact[]): Prisma.InputJsonValue {
  const seal = (secret: string): string =>
    Buffer.from(sealer.seal(secret, { workspaceId, purpose: 'recording link' })).toString('base64');
  return JSON.parse(JSON.stringify(facts.map((fact) => mapSecrets(fact, seal))));
}

/** A participant's token and a file's link open what they belong to: the database must not tell them. */
function mapSecrets(fact: MeetingFact, map: (secret: string) => string): MeetingFact {
  switch (fact.kind) {
    case 'participant.joined':
      return { ...fact, token: fact.token && map(fact.token) };
    case 'recording.uploaded':
      return { ...fact, file: fact.file && { url: map(fact.file.url) } };
    case 'recording.available':
      return { ...fact, file: { url: map(fact.file.url) } };
    default:
      return fact;
  }
}

/** The facts again. `kept` is what `keepFacts` made. */
export function openFacts(sealer: Sealer, workspaceId: number, kept: unknown): MeetingFact[] {
  const open = (secret: string): string =>
    sealer.open(Buffer.from(secret, 'base64'), { workspaceId, purpose: 'recording link' });
  const revive = (name: string, value: unknown): unknown =>
    (name === 'at' || name === 'urlExpiresAt') && typeof value === 'string' ? new Date(value) : value;
  // Written by keepFacts alone, and read by the version that wrote it or a later one.
  const facts = JSON.parse(JSON.stringify(kept), revive) as MeetingFact[];
  return facts.map((fact) => mapSecrets(fact, open));
}
