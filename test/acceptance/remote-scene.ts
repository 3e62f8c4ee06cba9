/** A workspace with content in a running installation, made with its API alone, for the rows of the contract. */
import { randomBytes } from 'node:crypto';
import { imageContent } from '../contract/content.ts';
import { UNKNOWN_ID } from '../contract/invalid-values.ts';
import type { Row } from '../contract/row.ts';
import { validCall } from '../contract/row.ts';
import type { Scene, User } from '../contract/scene.ts';
import { succeed } from '../contract/scene-content.ts';
import type { Call } from '../contract/transports.ts';
import type { Http } from '../support/http.ts';
import { jpeg } from '../support/images.ts';
import { makePdf } from '../support/media.ts';
import { upload } from '../support/world.ts';
import { createPatientHttp } from './remote-http.ts';

export type Remote = { http: Http; url: string; token: string };

export type RemoteScene = {
  workspaceId: number;
  /** A key of the workspace, with all rights. */
  key: string;
  /** The call of a row by the owner, and whether everything that it names exists. */
  callOf(name: string, row: Row): { call: Call; isComplete: boolean };
  remove(): Promise<void>;
};

/** Throws if a call fails: the session may then have too few rights, or the workspaces of its user are full. */
export async function createRemoteScene(remote: Remote): Promise<RemoteScene> {
  const { http, token } = remote;
  const suffix = randomBytes(6).toString('hex');
  const { workspace } = succeed(await http.post('/api/workspaces', token, { name: `Acceptance ${suffix}` }));
  const path = `/api/workspaces/${workspace.id}`;
  const remove = async (): Promise<void> => {
    const { status } = await http.delete(path, token);
    if (status !== 200 && status !== 404) throw new Error(`Could not delete the workspace ${workspace.id}: ${status}`);
  };
  try {
    const content = await addContent(remote, { workspaceId: workspace.id, path, suffix });
    const callOf = (name: string, row: Row) => buildCall(name, row, content);
    return { workspaceId: workspace.id, key: content.key, callOf, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What a scene of this kind has. The names are those of `Scene`. */
type Content = {
  app: Pick<Remote, 'http' | 'url'>;
  number: string;
  workspaceId: number;
  owner: Pick<User, 'id' | 'name' | 'email' | 'token'>;
  redId: number;
  blueId: number;
  itemId: number;
  roomName: string;
  stoppedRecording: { recordingId: number; uploadToken: string };
  keyId: number;
  key: string;
  workspaceKeyId: number;
  connectionId: number;
  inviteToken: string;
};

async function addContent(
  { http, url, token }: Remote,
  { workspaceId, path, suffix }: { workspaceId: number; path: string; suffix: string },
): Promise<Content> {
  const post = async (rest: string, json: object) => succeed(await http.post(`${path}${rest}`, token, json));
  const { user } = succeed(await http.get('/api/auth/me', token));
  const { label: red } = await post('/labels', { name: 'Red' });
  const { label: blue } = await post('/labels', { name: 'Blue' });
  const bytes = Uint8Array.from(makePdf({ text: suffix }));
  const { item } = succeed(await upload({ http }, path, token, bytes, { filename: 'contract.pdf' }));
  await post(`/library/${item.id}/labels`, { labelId: red.id });
  succeed(await http.call('PUT', `${path}/library/${item.id}/poster`, { token, ...imageContent(jpeg) }));
  const roomName = `acceptance-${suffix}`;
  succeed(await http.post('/api/dashboard/rooms', token, { name: roomName, workspace_id: workspaceId }));
  const { apiKey } = await post('/api-keys', { name: 'Acceptance' });
  const { apiKey: ofWorkspace } = await post('/api-keys', { name: 'Acceptance', belongs_to: 'workspace' });
  const { connection } = await post('/connections', {
    name: 'Video',
    provider: 'livekit',
    credentials: { api_key: 'APIacceptance', api_secret: 'a secret of the acceptance' },
  });
  const { token: inviteToken } = succeed(await http.post(`${path}/invite`, token));
  return {
    app: { http, url },
    number: suffix,
    workspaceId,
    owner: { ...user, token },
    redId: red.id,
    blueId: blue.id,
    itemId: item.id,
    roomName,
    stoppedRecording: await addStoppedRecording(http, token, roomName),
    keyId: apiKey.id,
    key: apiKey.full_key,
    workspaceKeyId: ofWorkspace.id,
    connectionId: connection.id,
    inviteToken,
  };
}

async function addStoppedRecording(http: Http, token: string, roomName: string) {
  const path = `/api/dashboard/rooms/${roomName}/recordings`;
  const { recording, upload_token } = succeed(await http.post(path, token, { archive_id: 'acceptance' }));
  succeed(await http.post(`${path}/${recording.id}/stop`, token));
  return { recordingId: recording.id, uploadToken: upload_token };
}

/**
 * The rows take a whole scene. What this one lacks, such as mail that somebody must read, is replaced by ids that
 * nothing has, and the call is not complete.
 */
function buildCall(name: string, row: Row, content: Content): { call: Call; isComplete: boolean } {
  let isComplete = true;
  const scene = withUnknown(content, () => {
    isComplete = false;
  });
  try {
    // `as`: the proxy has every field of a scene, although not everything exists.
    const call = validCall(name, row, scene as unknown as Scene, scene.owner as User);
    return { call, isComplete: isComplete && row.caller === undefined && row.prepare === undefined };
  } catch {
    // The row derives something from what is not there, such as a signature.
    const input = { id: content.workspaceId };
    return { call: { name, token: content.owner.token, input }, isComplete: false };
  }
}

/** Stands for any scene: it has the same fields. */
function createPlaceholder(http: Http): Content {
  const number = 'any';
  const owner = { id: 1, name: number, email: number, token: number };
  const texts = { number, roomName: number, key: number, inviteToken: number };
  const ids = { workspaceId: 1, redId: 1, blueId: 1, itemId: 1, keyId: 1, workspaceKeyId: 1, connectionId: 1 };
  return { app: { http, url: '' }, owner, stoppedRecording: { recordingId: 1, uploadToken: number }, ...texts, ...ids };
}

/** Whether a scene of this kind has everything that the call of the row names. */
export function isCallable(name: string, row: Row): boolean {
  return buildCall(name, row, createPlaceholder(createPatientHttp(''))).isComplete;
}

function withUnknown<Known extends object>(known: Known, onUnknown: () => void): Known {
  return new Proxy(known, {
    get(target, field, receiver) {
      if (field in target || typeof field === 'symbol') return Reflect.get(target, field, receiver);
      onUnknown();
      if (/Id$|^id$/.test(field)) return UNKNOWN_ID;
      if (/(?:Token|^token|Name|slug|key)$/i.test(field)) return 'unknown';
      return withUnknown({}, onUnknown);
    },
  });
}
