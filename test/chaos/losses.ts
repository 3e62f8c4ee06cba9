/** Compares what the service acknowledged with what is there. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Acknowledged } from './load.ts';
import type { ChaosWorld } from './world.ts';

/** Longer than it takes until the messages of a killed worker are sent, with one retry. */
const DELIVERY_TIMEOUT_MS = 120_000;
const POLL_MS = 500;

/** Resolves with a line for each loss. */
export async function findLosses(world: ChaosWorld, { rooms, items }: Acknowledged): Promise<string[]> {
  const stored = await world.direct.query<{ name: string }>('select name from rooms');
  const names = new Set(stored.rows.map(({ name }) => name));
  return [
    ...[...rooms].filter((name) => !names.has(name)).map((name) => `room ${name}`),
    ...(await findLostItems(world, items)),
    ...(await findUndelivered(world, rooms)),
  ];
}

async function findLostItems({ http, users }: ChaosWorld, items: Acknowledged['items']): Promise<string[]> {
  const lost = new Map(items);
  for (const { token, workspaceId } of users)
    for (const [id, text] of lost) {
      const { status, body } = await http.get(`/api/workspaces/${workspaceId}/library/${id}/download`, token);
      if (status !== 200) continue;
      const file = await fetch(body.url);
      if ((await file.text()).includes(text)) lost.delete(id);
    }
  return [...lost].map(([id, text]) => `item ${id}, ${text}`);
}

/** Resolves with a line for each acknowledged room whose webhook has not reached the receiver. */
async function findUndelivered({ receiver }: ChaosWorld, rooms: ReadonlySet<string>): Promise<string[]> {
  const deadline = performance.now() + DELIVERY_TIMEOUT_MS;
  const undelivered = new Set(rooms);
  let read = 0;
  for (;;) {
    for (; read < receiver.requests.length; read += 1) {
      const { data } = JSON.parse(receiver.requests[read]?.body.toString() ?? '{}');
      undelivered.delete(data?.room_name);
    }
    if (undelivered.size === 0 || performance.now() > deadline) break;
    await sleep(POLL_MS);
  }
  return [...undelivered].map((name) => `webhook of room ${name}`);
}
