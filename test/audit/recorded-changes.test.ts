/** What each operation records in the audit log, in the transaction of its change. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transact } from '../../src/db/client.ts';
import { sqlIn } from '../../src/db/sql.ts';
import { sweepRetention } from '../../src/features/retention/sweep-retention.ts';
import { updateWebhooks } from '../../src/webhook-delivery/webhook-health.ts';
import { start } from '../recordings/recording-fixtures.ts';
import { auditOf, lastAuditId, type RecordedEntry } from '../support/audit.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { addPerson, addTeam, PASSWORD, type Person, type Team, upload } from '../support/world.ts';

const DAY_MS = 86_400_000;

let app: TestApp;
let team: Team;
beforeAll(async () => {
  app = await startTestApp();
  team = await addTeam(app);
});
afterAll(() => app.close());

/** Returns what `work` adds to the log of the workspace. */
async function recordedBy(work: () => Promise<unknown>, workspaceId = team.id): Promise<RecordedEntry[]> {
  const after = await lastAuditId(app);
  await work();
  return auditOf(app, workspaceId, after);
}

/** The entry of a person who calls from this machine. */
function by({ id, name }: Person, action: string, target: RecordedEntry['target'], details: object = {}) {
  const actorDetails = { name, address: '127.0.0.1' };
  return { actor: ['user', id, null], actorDetails, action, target, details };
}

const bySystem = { actor: ['system', null, null], actorDetails: {} };

describe('the workspace', () => {
  test('is renamed, through both transports; the same name again is not recorded', async () => {
    const rename = (name: string) => app.http.patch(team.path, team.owner.token, { name });
    const target: RecordedEntry['target'] = ['workspace', team.id];
    expect(await recordedBy(() => rename('Group'))).toEqual([
      by(team.owner, 'workspace.renamed', target, { before: { name: 'Team' }, after: { name: 'Group' } }),
    ]);
    expect(await recordedBy(() => rename('Group'))).toEqual([]);
    expect(
      await recordedBy(() => team.owner.client.workspaces.rename.mutate({ id: team.id, name: 'Team' })),
    ).toMatchObject([{ action: 'workspace.renamed' }]);
  });

  test('a refused change records nothing', async () => {
    expect(await recordedBy(() => app.http.patch(team.path, team.member.token, { name: 'No' }))).toEqual([]);
    const invalid = { media_retention_days: 8 };
    expect(await recordedBy(() => app.http.patch(`${team.path}/retention`, team.owner.token, invalid))).toEqual([]);
  });

  test('is transferred', async () => {
    const { workspace } = await team.owner.client.workspaces.create.mutate({ name: 'Given away' });
    const { token } = await team.owner.client.workspaces.invite.mutate({ id: workspace.id });
    await team.admin.client.workspaces.join.mutate({ token });
    const path = `/api/workspaces/${workspace.id}/members/${team.admin.id}`;
    const entries = await recordedBy(() => app.http.patch(path, team.owner.token, { role: 'owner' }), workspace.id);
    expect(entries).toEqual([
      by(team.owner, 'workspace.transferred', ['workspace', workspace.id], {
        before: { owner_id: team.owner.id },
        after: { owner_id: team.admin.id },
      }),
    ]);
  });

  test('changes its retention policy', async () => {
    const set = (days: number | null) => () =>
      app.http.patch(`${team.path}/retention`, team.owner.token, { media_retention_days: days });
    expect(await recordedBy(set(30))).toEqual([
      by(team.owner, 'retention.changed', ['retention', null], {
        before: { media_retention_days: null },
        after: { media_retention_days: 30 },
      }),
    ]);
    expect(await recordedBy(set(30))).toEqual([]);
    expect(await recordedBy(set(null))).toHaveLength(1);
  });
});

describe('members', () => {
  test('the invite link is created once and revoked once', async () => {
    const { workspace } = await team.owner.client.workspaces.create.mutate({ name: 'Inviting' });
    const path = `/api/workspaces/${workspace.id}/invite`;
    const { token } = team.owner;
    const entries = await recordedBy(async () => {
      for (let time = 0; time < 2; time += 1) await app.http.post(path, token);
      for (let time = 0; time < 2; time += 1) await app.http.delete(path, token);
    }, workspace.id);
    expect(entries).toEqual([
      by(team.owner, 'invite_link.created', ['invite_link', null]),
      by(team.owner, 'invite_link.revoked', ['invite_link', null]),
    ]);
  });

  test('join, get a role, are removed and leave', async () => {
    const [ann, ben] = await Promise.all([addPerson(app, 'Ann'), addPerson(app, 'Ben')]);
    const join = async (person: Person) => {
      const { token } = await team.owner.client.workspaces.invite.mutate({ id: team.id });
      await app.http.post(`/api/workspaces/join/${token}`, person.token);
    };
    const memberPath = (person: Person) => `${team.path}/members/${person.id}`;
    const target = ({ id }: Person): RecordedEntry['target'] => ['member', id];
    await team.owner.client.workspaces.invite.mutate({ id: team.id });
    const entries = await recordedBy(async () => {
      await join(ann);
      await join(ann);
      await app.http.patch(memberPath(ann), team.owner.token, { role: 'admin' });
      await app.http.patch(memberPath(ann), team.owner.token, { role: 'admin' });
      await app.http.delete(memberPath(ann), team.owner.token);
    });
    expect(entries).toEqual([
      by(ann, 'member.joined', target(ann), { name: 'Ann', after: { role: 'member', by: 'invite_link' } }),
      by(team.owner, 'member.role_changed', target(ann), {
        name: 'Ann',
        before: { role: 'member' },
        after: { role: 'admin' },
      }),
      by(team.owner, 'member.removed', target(ann), {
        name: 'Ann',
        before: { role: 'admin' },
        after: { reason: 'removed', revoked_api_keys: 0, remaining_workspace_keys: 0 },
      }),
    ]);
    await join(ben);
    expect(await recordedBy(() => app.http.delete(memberPath(ben), ben.token))).toEqual([
      by(ben, 'member.left', target(ben), {
        name: 'Ben',
        before: { role: 'member' },
        after: { reason: 'left', revoked_api_keys: 0, remaining_workspace_keys: 0 },
      }),
    ]);
  });

  test('a new password with end_api_keys records the end of each key', async () => {
    const { apiKey } = (await app.http.post(`${team.path}/api-keys`, team.admin.token, { name: 'CI' })).body;
    const change = { password: 'another good password', current_password: PASSWORD, end_api_keys: true };
    expect(await recordedBy(() => app.http.patch('/api/auth/me', team.admin.token, change))).toEqual([
      by(team.admin, 'api_key.revoked', ['api_key', apiKey.id], { name: 'CI' }),
    ]);
  });
});

describe('webhooks', () => {
  test('are created, changed, switched, given a new secret and deleted, without any secret in the log', async () => {
    const { token } = team.owner;
    const fields = { name: 'CRM', url: 'https://example.com/hook', events: ['room.created'] };
    const entries = await recordedBy(async () => {
      const { webhook } = (await app.http.post(`${team.path}/webhooks`, token, fields)).body;
      const path = `${team.path}/webhooks/${webhook.id}`;
      await app.http.patch(path, token, { url: 'https://example.org/hook', name: 'CRM' });
      await app.http.patch(path, token, { name: 'CRM' });
      await app.http.patch(path, token, { toggle: true });
      await app.http.patch(path, token, { toggle: true });
      await app.http.post(`${path}/rotate-secret`, token);
      await app.http.delete(path, token);
    });
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['webhook.created', { name: 'CRM', after: { url: fields.url, events: fields.events } }],
      ['webhook.updated', { name: 'CRM', before: { url: fields.url }, after: { url: 'https://example.org/hook' } }],
      ['webhook.deactivated', { name: 'CRM', before: { is_active: true }, after: { is_active: false } }],
      ['webhook.activated', { name: 'CRM', before: { is_active: false }, after: { is_active: true } }],
      ['webhook.secret_rotated', { name: 'CRM' }],
      ['webhook.deleted', { name: 'CRM', before: { url: 'https://example.org/hook' } }],
    ]);
    expect(JSON.stringify(entries)).not.toContain('whsec_');
  });

  test('the service records that it deactivates a webhook', async () => {
    const fields = { name: 'Gone', url: 'https://example.com/gone', events: ['room.created'] };
    const { webhook } = (await app.http.post(`${team.path}/webhooks`, team.owner.token, fields)).body;
    const health = { workspaceId: team.id, webhookId: webhook.id, url: fields.url, isActive: false, failureCount: 1 };
    const update = { ...health, failingSince: null, lastDeliveryAt: null, isSlow: true };
    const entries = await recordedBy(() =>
      transact(app.services.db, (tx) =>
        updateWebhooks(sqlIn(tx), app.clock.now(), [{ ...update, disabledReason: 'The receiver is gone' }]),
      ),
    );
    expect(entries).toEqual([
      {
        ...bySystem,
        action: 'webhook.deactivated',
        target: ['webhook', webhook.id],
        details: { before: { is_active: true }, after: { is_active: false, reason: 'The receiver is gone' } },
      },
    ]);
  });
});

test('connections are created, get new credentials and are deleted', async () => {
  const { token } = team.owner;
  const target: RecordedEntry['target'] = ['connection', expect.any(Number)];
  const details = { name: 'Own', after: { provider: 'generic' } };
  const entries = await recordedBy(async () => {
    const { body } = await app.http.post(`${team.path}/connections`, token, { name: 'Own', provider: 'generic' });
    const path = `${team.path}/connections/${body.connection.id}`;
    await app.http.post(`${path}/rotate`, token);
    await app.http.delete(path, token);
  });
  expect(entries).toEqual(
    ['connection.created', 'connection.rotated', 'connection.deleted'].map((action) =>
      by(team.owner, action, target, details),
    ),
  );
});

describe('deletions', () => {
  test('of an item, by a person and by an API key', async () => {
    const { apiKey } = (await app.http.post(`${team.path}/api-keys`, team.owner.token, { name: 'Bot' })).body;
    const remove = async (token: string) => {
      const { item } = (await upload(app, team.path, team.member.token)).body;
      await app.http.delete(`${team.path}/library/${item.id}`, token);
    };
    const entries = await recordedBy(async () => {
      await remove(team.member.token);
      await remove(apiKey.full_key);
    });
    const target: RecordedEntry['target'] = ['library_item', expect.any(Number)];
    const details = { name: 'contract.pdf', before: { mime_type: 'application/pdf', size: expect.any(Number) } };
    expect(entries).toEqual([
      by(team.member, 'library_item.deleted', target, details),
      {
        ...by(team.owner, 'library_item.deleted', target, details),
        actor: ['key', team.owner.id, apiKey.id],
      },
    ]);
  });

  test('by the retention policy are one entry for a batch', async () => {
    const { token } = team.owner;
    await app.http.patch(`${team.path}/retention`, token, { media_retention_days: 7 });
    const ids: number[] = [];
    for (let count = 0; count < 3; count += 1) ids.push((await upload(app, team.path, token)).body.item.id);
    const old = new Date(app.clock.now().getTime() - 8 * DAY_MS);
    await app.services.db.libraryItem.updateMany({ where: { workspaceId: team.id }, data: { createdAt: old } });
    expect(await recordedBy(() => sweepRetention(app.services))).toEqual([
      {
        ...bySystem,
        action: 'library_item.expired',
        target: ['library_item', null],
        details: { before: { count: 3, ids: expect.arrayContaining(ids) } },
      },
    ]);
  });

  test('of a room, a recording, a label, a booking page and a contact, which is not named', async () => {
    const { token } = team.owner;
    const { room } = (await app.http.post('/api/dashboard/rooms', token, { name: 'talks', workspace_id: team.id }))
      .body;
    const recording = { workspaceId: team.id, roomId: room.id };
    const id = await start(app, { ...recording, archiveId: 'rec-1', title: 'Kick-off' });
    await start(app, { ...recording, archiveId: 'rec-2' });
    const { label } = (await app.http.post(`${team.path}/labels`, token, { name: 'Contracts' })).body;
    const page = { title: 'Call', duration_minutes: 30, time_zone: 'UTC', hours: [] };
    const bookingPage = (await app.http.post(`${team.path}/booking-pages`, token, page)).body.bookingPage;
    const contact = { name: 'Vera', email: 'vera@example.com' };
    const contactId = (await app.http.post(`${team.path}/contacts`, token, contact)).body.contact.id;
    const entries = await recordedBy(async () => {
      await app.http.delete(`/api/dashboard/recordings/${id}`, token);
      await app.http.delete('/api/dashboard/rooms/talks', token);
      await app.http.delete(`${team.path}/labels/${label.id}`, token);
      await app.http.delete(`${team.path}/booking-pages/${bookingPage.id}`, token);
      await app.http.delete(`${team.path}/contacts/${contactId}`, token);
    });
    expect(entries).toEqual([
      by(team.owner, 'recording.deleted', ['recording', id], {
        name: 'Kick-off',
        before: { room_id: room.id, duration: 0, size: 0 },
      }),
      by(team.owner, 'room.deleted', ['room', room.id], { name: 'talks', before: { recordings: 1 } }),
      by(team.owner, 'label.deleted', ['label', label.id], { name: 'Contracts' }),
      by(team.owner, 'booking_page.deleted', ['booking_page', bookingPage.id], { name: 'Call' }),
      by(team.owner, 'contact.deleted', ['contact', contactId]),
    ]);
  });
});

test('an export of contacts is recorded', async () => {
  expect(await recordedBy(() => app.http.get(`${team.path}/contacts.csv`, team.admin.token))).toMatchObject([
    { action: 'contact.exported', target: ['contact', null], actor: ['user', team.admin.id, null] },
  ]);
});

describe('API keys', () => {
  test('are created, switched, rotated and deleted; switching to the same state is not recorded', async () => {
    const keys = `${team.path}/api-keys`;
    const input = { name: 'CI', belongs_to: 'workspace', scopes: ['library:read'] };
    let id = 0;
    const created = await recordedBy(async () => {
      id = (await app.http.post(keys, team.admin.token, input)).body.apiKey.id;
    });
    const target: RecordedEntry['target'] = ['api_key', id];
    const after = { belongs_to: 'workspace', scopes: ['library:read'], expires_at: null };
    expect(created).toEqual([by(team.admin, 'api_key.created', target, { name: 'CI', after })]);
    const off = () => app.http.patch(`${keys}/${id}`, team.admin.token, { is_active: 0 });
    expect(await recordedBy(off)).toEqual([by(team.admin, 'api_key.deactivated', target, { name: 'CI' })]);
    expect(await recordedBy(off)).toEqual([]);
    const rotate = () => app.http.post(`${keys}/${id}/rotate`, team.owner.token);
    expect(await recordedBy(rotate)).toEqual([by(team.owner, 'api_key.rotated', target, { name: 'CI' })]);
    const remove = () => app.http.delete(`${keys}/${id}`, team.owner.token);
    expect(await recordedBy(remove)).toEqual([by(team.owner, 'api_key.deleted', target, { name: 'CI' })]);
  });

  test('act for a person, or for the workspace under their own name', async () => {
    const keys = `${team.path}/api-keys`;
    const personal = (await app.http.post(keys, team.admin.token, { name: 'Mine' })).body.apiKey;
    const shared = (await app.http.post(keys, team.admin.token, { name: 'Ours', belongs_to: 'workspace' })).body.apiKey;
    const { label } = (await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Short-lived' })).body;
    const second = (await app.http.post(`${team.path}/labels`, team.owner.token, { name: 'Shorter-lived' })).body.label;
    const address = '127.0.0.1';
    expect(await recordedBy(() => app.http.delete(`${team.path}/labels/${label.id}`, personal.full_key))).toMatchObject(
      [{ actor: ['key', team.admin.id, personal.id], actorDetails: { name: team.admin.name, address } }],
    );
    expect(await recordedBy(() => app.http.delete(`${team.path}/labels/${second.id}`, shared.full_key))).toMatchObject([
      { actor: ['key', null, shared.id], actorDetails: { name: 'Ours', address } },
    ]);
  });
});
