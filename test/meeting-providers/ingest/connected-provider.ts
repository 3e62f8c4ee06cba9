/** A connected meeting provider, which signs and posts callbacks. */

import type { Answer } from '../../support/http.ts';
import type { TestApp } from '../../support/test-app.ts';
import type { Team } from '../../support/world.ts';
import { bodyOf, signGeneric, signLivekit, signVonage } from '../adapters/callbacks.ts';

export const VONAGE = { signature_secret: 'the signature secret of Vonage' };
export const LIVEKIT = { api_key: 'APIaVrrHMBeyNGD', api_secret: 'the API secret of LiveKit' };

export type ProviderName = 'vonage' | 'livekit' | 'generic';

export type Source = {
  id: number;
  /** The path of `ingest_url`. */
  path: string;
  secret: string | null;
  sign(body: Buffer): Promise<Record<string, string>>;
  /** Signs a value as JSON, or a text unchanged, and posts it. */
  post(value: unknown): Promise<Answer>;
};

let messages = 0;

/** Connects a provider to the team's workspace. */
export async function connect(app: TestApp, team: Team, provider: ProviderName): Promise<Source> {
  const credentials = { vonage: VONAGE, livekit: LIVEKIT, generic: undefined }[provider];
  const input = { name: provider, provider, ...(credentials && { credentials }) };
  const { status, body } = await app.http.post(`${team.path}/connections`, team.owner.token, input);
  if (status !== 200) throw new Error(`Could not connect: ${JSON.stringify(body)}`);
  const { id, ingest_url, secret } = body.connection;
  const path = new URL(ingest_url).pathname;
  const sign = async (bytes: Buffer): Promise<Record<string, string>> => {
    if (provider === 'vonage') return signVonage(bytes, VONAGE.signature_secret, { at: app.clock.now() });
    if (provider === 'livekit') return signLivekit(bytes, LIVEKIT.api_key, LIVEKIT.api_secret);
    messages += 1;
    return signGeneric(bytes, secret, { id: `msg_${messages}`, at: app.clock.now() });
  };
  const post = async (value: unknown): Promise<Answer> => {
    const bytes = bodyOf(value);
    return app.http.call('POST', path, { body: new Uint8Array(bytes), headers: await sign(bytes) });
  };
  return { id, path, secret, sign, post };
}

export type Room = { id: number; name: string };

let rooms = 0;

/** Creates a room of the team's owner, with its own session. */
export async function addRoom(app: TestApp, team: Team, sessionId?: string): Promise<Room> {
  rooms += 1;
  const name = `room-${rooms}`;
  const input = { name, workspace_id: team.id, ...(sessionId !== undefined && { session_id: sessionId }) };
  const { status, body } = await app.http.post('/api/dashboard/rooms', team.owner.token, input);
  if (status !== 201) throw new Error(`Could not create a room: ${JSON.stringify(body)}`);
  return { id: body.room.id, name };
}
