/** The connection behind an address that a provider posts to. */
import { isLinkToken } from '../../../auth/tokens.ts';
import type { Services } from '../../../services.ts';
import type { ProviderKind } from '../adapters/index.ts';
import { toProviderKind } from '../connections/credentials.ts';

export type FoundConnection = {
  workspaceId: number;
  id: number;
  provider: ProviderKind;
  sealedCredentials: Uint8Array;
};

/** The connection whose `ingest_url` ends so; null where there is none. */
export async function findConnection({ db }: Pick<Services, 'db'>, ingestId: string): Promise<FoundConnection | null> {
  if (!isLinkToken(ingestId)) return null;
  const row = await db.meetingConnection.findUnique({
    where: { ingestId },
    select: { workspaceId: true, id: true, provider: true, sealedCredentials: true },
  });
  return row && { ...row, provider: toProviderKind(row.provider) };
}
