/** The mocked client that programs use in their tests. */
import { describe, expect, test } from 'vitest';
import { isLynxroomError, type Outputs } from '../../packages/client/src/index.ts';
import { createMockClient, createMockError } from '../../packages/client/src/testing/index.ts';

const label = (id: number, name: string) => ({
  id,
  workspace_id: 1,
  name,
  color: '#ff0000',
  created_by: 1,
  created_by_name: 'Ada',
  created_at: 0,
});

function reasonOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
}

describe('a mocked client', () => {
  test('answers with values and functions, also those of a workspace and of lists, and records the calls', async () => {
    const client = createMockClient({
      labels: {
        list: ({ cursor }) =>
          cursor ? { labels: [label(2, 'Green')] } : { labels: [label(1, 'Red')], next_cursor: 'a' },
        create: async ({ name }) => ({ label: label(3, name) }),
      },
      exportContacts: () => new Blob(['email']),
    });
    const names: string[] = [];
    for await (const { name } of client.paginate(client.workspace(1).labels.list, { limit: 1 })) names.push(name);
    expect(names).toEqual(['Red', 'Green']);
    expect((await client.labels.create.mutate({ id: 1, name: 'Blue' })).label.name).toBe('Blue');
    expect(await (await client.exportContacts({ id: 1 })).text()).toBe('email');
    expect(client.calls).toEqual([
      { operation: 'labels.list', input: { id: 1, limit: 1, cursor: undefined } },
      { operation: 'labels.list', input: { id: 1, limit: 1, cursor: 'a' } },
      { operation: 'labels.create', input: { id: 1, name: 'Blue' } },
      { operation: 'exportContacts', input: { id: 1 } },
    ]);
  });

  test('rejects with the errors of the service, and passes on what a function throws', async () => {
    const taken = createMockError(409, 'CONFLICT', { message: 'A label with this name already exists' });
    const lost = new TypeError('fetch failed');
    const client = createMockClient({
      labels: { create: taken },
      rooms: {
        create() {
          throw lost;
        },
      },
      upload: () => Promise.reject(lost),
      importContacts: taken,
    });
    for (const call of [
      () => client.labels.create.mutate({ id: 1, name: 'Red' }),
      () => client.importContacts({ id: 1, csv: '' }),
    ]) {
      const reason = await reasonOf(call());
      expect(isLynxroomError(reason)).toBe(true);
      expect(reason).toMatchObject({ status: 409, code: 'CONFLICT', message: taken.message, issues: [] });
    }
    expect(await reasonOf(client.rooms.create.mutate({}))).toMatchObject({ message: 'fetch failed', cause: lost });
    expect(await reasonOf(client.upload({ id: 1, file: new Blob([]) }))).toBe(lost);
  });

  test('names the operation that is not mocked', async () => {
    const client = createMockClient({ labels: {} });
    const refused = (name: string) => ({ message: `${name} is not mocked: createMockClient got no answer for it` });
    expect(await reasonOf(client.labels.list.query({ id: 1 }))).toMatchObject(refused('labels.list'));
    expect(await reasonOf(client.workspace(1).webhooks.list.query())).toMatchObject(refused('webhooks.list'));
    expect(await reasonOf(client.exportAccount())).toMatchObject(refused('exportAccount'));
    const failed = new Promise((resolve) => client.events.live.subscribe({ id: 1 }, { onError: resolve }));
    expect(await failed).toMatchObject(refused('events.live'));
    expect(client.calls.map(({ operation }) => operation)).toEqual([
      'labels.list',
      'webhooks.list',
      'exportAccount',
      'events.live',
    ]);
  });

  test('sends the events of a subscription, which stays open until it is ended', async () => {
    type Message = Outputs['events']['live'] extends AsyncIterable<infer Event> ? Event : never;
    // `as`: the test needs no real event.
    const events = ['1', '2', '3'].map((id) => ({ id, data: { event: 'label.created' } }) as unknown as Message);
    const client = createMockClient({ events: { live: () => events } });
    const seen: string[] = [];
    await new Promise<void>((resolve, reject) => {
      const live = client.events.live.subscribe(
        { id: 1 },
        {
          onData({ id }) {
            seen.push(id);
            if (id !== '2') return;
            live.unsubscribe();
            resolve();
          },
          onError: reject,
          onComplete: () => reject(new Error('It has ended')),
        },
      );
    });
    expect(seen).toEqual(['1', '2']);
  });

  test('rejects with the reason of a signal', async () => {
    const client = createMockClient({
      labels: { list: () => new Promise<never>(() => {}) },
      exportAccount: () => new Promise<never>(() => {}),
    });
    for (const call of [
      (signal: AbortSignal) => client.labels.list.query({ id: 1 }, { signal }),
      (signal: AbortSignal) => client.exportAccount({ signal }),
    ]) {
      const abort = new AbortController();
      const reason = reasonOf(call(abort.signal));
      abort.abort('enough');
      expect(await reason).toBe('enough');
    }
  });
});
