import type { Outputs } from '@lynxroom/client';
import { trpc } from '../../../../lib/client.ts';

export type EmbedToken = Outputs['embedTokens']['list']['embed_tokens'][number];

const PAGE_SIZE = 50;

export function embedTokensOptions(id: number) {
  return trpc.embedTokens.list.infiniteQueryOptions(
    { id, limit: PAGE_SIZE },
    { getNextPageParam: (page) => page.next_cursor },
  );
}

/** What a token shows and allows, such as "Library, read and upload". */
export function describeScope({ kind, access }: Pick<EmbedToken, 'kind' | 'access'>): string {
  if (kind === 'webhooks') return 'Webhooks';
  return access === 'upload' ? 'Library, read and upload' : 'Library, read only';
}
