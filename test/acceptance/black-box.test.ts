/**
 * The rows of the contract against a running installation: `npm run acceptance`, see docs/deployment.md. Uses the API
 * alone, in workspaces that it creates and deletes. Each test reports one operation.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unknownChildren } from '../contract/invalid-values.ts';
import { rows } from '../contract/operations.ts';
import { type Child, type Refusal, type Row, requiredRole } from '../contract/row.ts';
import { type Call, isServed, type Transport, viaRest, viaTrpc } from '../contract/transports.ts';
import { createPatientHttp } from './remote-http.ts';
import { createRemoteScene, isCallable, type Remote, type RemoteScene } from './remote-scene.ts';

const url = process.env.ACCEPTANCE_URL ?? '';
const token = process.env.ACCEPTANCE_TOKEN ?? '';
const ownKey = process.env.ACCEPTANCE_KEY ?? '';
const isFull = process.env.ACCEPTANCE_PROFILE === 'full';

/** Operations that send mail or requests to other people, so no success is tried. */
const REACHES_OTHERS = /^(?:invitations\.|webhooks\.(?:create|test|resend))/;

/** Refusals that an installation with other settings does not give. */
const DEPENDS_ON_SETTINGS = /there is no TURN server/;

/** Deleting comes after everything that needs what is deleted. */
const ENDS_SOMETHING = /delete|remove|revoke|close|erase|leave|rotate/i;

const remote: Remote = { url, http: createPatientHttp(url), token };
const scenes: RemoteScene[] = [];
let scene: RemoteScene;

async function addScene(): Promise<RemoteScene> {
  const created = await createRemoteScene(remote);
  scenes.push(created);
  return created;
}

beforeAll(async () => {
  scene = await addScene();
});
afterAll(async () => {
  for (const one of scenes) await one.remove();
});

const entries = Object.entries(rows);
const needsCredential = ({ who }: Row): boolean => who !== 'anyone' && who !== 'provider';
const transports: readonly Transport[] = isFull ? [viaRest, viaTrpc] : [viaRest];

/** Makes the call over each transport, and compares the status and the message. */
async function expectRefusal(call: Call, expected: { status: number; message?: string; path?: string }): Promise<void> {
  for (const transport of transports.filter((one) => isServed(call.name, one))) {
    const { status, body } = await transport(remote, call);
    expect({ status, body }, `${call.name} ${JSON.stringify(call.input).slice(0, 200)}`).toMatchObject({
      status: expected.status,
      ...(expected.message !== undefined && { body: { message: expected.message } }),
      ...(expected.path !== undefined && { body: { issues: [{ path: expected.path }] } }),
    });
  }
}

test('the service is ready', async () => {
  const { status } = await fetch(`${url}/ready`);
  expect(status).toBe(200);
});

if (ownKey !== '')
  test('the given API key is accepted', async () => {
    expect((await remote.http.get('/api/workspaces', ownKey)).status).toBe(200);
  });

describe('nobody gets in without a valid credential:', () => {
  test.concurrent.each(entries.filter(([, row]) => needsCredential(row)))('%s', async (name, row) => {
    const { call } = scene.callOf(name, row);
    await expectRefusal({ ...call, token: undefined }, { status: 401, message: row.unauthorized ?? 'Unauthorized' });
  });

  // The others have one check of credentials with it. Many wrong ones would use up the misses of this network.
  test('labels.list, with a wrong one', async () => {
    const call = { name: 'labels.list', input: { id: scene.workspaceId } };
    for (const wrong of ['x', `lns_${'A'.repeat(43)}`, `lnx_${'A'.repeat(40)}`])
      await expectRefusal({ ...call, token: wrong }, { status: 401, message: 'Unauthorized' });
  });
});

describe('an API key does not act where only a session may:', () => {
  test.concurrent.each(entries.filter(([, row]) => needsCredential(row) && !row.keys))('%s', async (name, row) => {
    await expectRefusal({ ...scene.callOf(name, row).call, token: scene.key }, { status: 403 });
  });
});

/** Whether the operation acts in the workspace of the scene, or only reads, and the scene has what the call names. */
function isTried(name: string, row: Row): boolean {
  const isOwn = requiredRole(row) !== null || row.who === 'room host' || (row.who === 'user' && !row.writes);
  return isOwn && !REACHES_OTHERS.test(name) && isCallable(name, row);
}

const tried = entries.filter(([name, row]) => isTried(name, row));

describe('reading answers as documented:', () => {
  test.concurrent.each(tried.filter(([, row]) => !row.writes))('%s', async (name, row) => {
    const { call } = scene.callOf(name, row);
    for (const by of [token, ...(row.keys ? [scene.key] : [])])
      for (const transport of transports.filter((one) => isServed(name, one)))
        expect(await transport(remote, { ...call, token: by })).toMatchObject({ status: row.status ?? 200 });
  });
});

describe('what does not exist is not found:', () => {
  test.concurrent.each(tried.filter(([, row]) => row.children !== undefined))('%s', async (name, row) => {
    const { call } = scene.callOf(name, row);
    // `Object.entries` returns the keys as plain strings.
    for (const [child, message] of Object.entries(row.children ?? {}) as [Child, string][])
      for (const unknown of unknownChildren(child).slice(0, isFull ? undefined : 1))
        await expectRefusal({ ...call, input: { ...call.input, [child]: unknown } }, { status: 404, message });
  });
});

if (isFull) {
  describe('invalid input is refused, with the field:', testInvalidInput);
  describe('writing answers as documented:', testWriting);
}

function testInvalidInput(): void {
  const isGiven = ({ message, isLogged }: Refusal): boolean => !isLogged && !DEPENDS_ON_SETTINGS.test(message);
  test.each(tried.filter(([, row]) => row.wrong?.some(isGiven)))('%s', async (name, row) => {
    const { call } = scene.callOf(name, row);
    for (const { input, message, path } of row.wrong?.filter(isGiven) ?? [])
      await expectRefusal({ ...call, input: { ...call.input, ...input } }, { status: 400, message, path });
  });
}

function testWriting(): void {
  const writing = tried.filter(([, row]) => row.writes);
  const inOrder = writing.toSorted(([a], [b]) => Number(ENDS_SOMETHING.test(a)) - Number(ENDS_SOMETHING.test(b)));
  test.each(inOrder)('%s', async (name, row) => {
    const status = row.status ?? 200;
    const { status: found } = await viaRest(remote, scene.callOf(name, row).call);
    // An earlier call may have added or removed what this one is about. Nothing else explains another status.
    if (found !== 404 && found !== 409) return expect(found).toBe(status);
    scene = await addScene();
    expect(await viaRest(remote, scene.callOf(name, row).call)).toMatchObject({ status });
  });
}
