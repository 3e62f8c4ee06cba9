/**
 * LiveKit: webhooks about participants, and about egress, which is LiveKit's recorder.
 * https://docs.livekit.io/home/server/webhooks/, https://github.com/livekit/protocol (webhook, protobufs)
 */
import { z } from 'zod';
import { HOUR_MS, SECOND_MS } from '../../../core/time.ts';
import { type Callback, type ProviderAdapter, UnverifiedCallback } from './provider-adapter.ts';
import { cleanToken, readCredentials, readJson } from './read.ts';
import { assertBodyDigest, sha256, verifyToken } from './signatures.ts';

export const LivekitCredentials = z.object({
  api_key: z.string().min(1).max(200).describe('API key that signs the webhooks'),
  api_secret: z.string().min(8).max(500).describe('Secret of this API key'),
  url: z
    .string()
    .max(500)
    .describe(
      'URL of the LiveKit server, such as `wss://livekit.example.com`. With it, the server carries the media of the ' +
        'workspace: joining a room answers `media` with a token for it. A workspace has one such connection',
    )
    .optional(),
});
export type LivekitCredentials = z.infer<typeof LivekitCredentials>;

/** The same tolerance as in the SDK. LiveKit's tokens are valid for 5 minutes. */
const CLOCK_TOLERANCE_SECONDS = 10;
/**
 * How far in the future `exp` may be. It must stay well below a week, which is how long callbacks are stored: a token
 * that outlives its stored callback could be used to replay that callback.
 */
const MAX_LIFETIME_SECONDS = HOUR_MS / SECOND_MS;

/**
 * A repeated event has the same id. If the id is missing or is not visible ASCII, the hash of the body is used instead.
 */
export const livekit: ProviderAdapter = {
  async readAndVerify(callback, credentials, now) {
    await verify(callback, readCredentials(LivekitCredentials, credentials), now);
    const json = readJson(callback.body);
    // The SDK takes 30 MB of memory, so it is loaded when the first callback arrives.
    const { readLivekitEvents } = await import('./livekit-events.ts');
    const { id, events } = readLivekitEvents(json, now);
    return { dedupeKey: cleanToken(id) ?? sha256(callback.body, 'hex'), events };
  },
};

/**
 * Checks the token and the digest without the SDK's WebhookReceiver, which uses the system clock, accepts three
 * algorithms, and reports a wrong signature and a malformed body with the same error.
 */
async function verify(callback: Callback, { api_key, api_secret }: LivekitCredentials, now: Date): Promise<void> {
  const claims = await verifyToken(callback, [api_secret], {
    now,
    issuer: api_key,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['exp'],
  });
  const lifetimeSeconds = (claims.exp ?? 0) - now.getTime() / SECOND_MS;
  if (lifetimeSeconds > MAX_LIFETIME_SECONDS) throw new UnverifiedCallback('The signature must expire within an hour');
  assertBodyDigest(claims.sha256, sha256(callback.body, 'base64'));
}
