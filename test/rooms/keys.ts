import { generateApiKey, keyPrefixOf } from '../../src/auth/api-keys.ts';
import { hashToken } from '../../src/auth/tokens.ts';
import type { TestApp } from '../support/test-app.ts';
import type { Person } from '../support/world.ts';

/** Creates an API key of a workspace. */
export async function addKey(app: TestApp, workspaceId: number, creator: Person): Promise<string> {
  const key = generateApiKey();
  await app.services.db.apiKey.create({
    data: {
      workspaceId,
      name: 'Script',
      keyPrefix: keyPrefixOf(key),
      keyHash: hashToken(key),
      createdBy: creator.id,
      createdAt: app.clock.now(),
    },
  });
  return key;
}
