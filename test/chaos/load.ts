/** Steady load of several users, which remembers every request and everything that the service acknowledged. */
import { setTimeout as sleep } from 'node:timers/promises';
import { makePdf } from '../support/media.ts';

export type Sample = {
  kind: 'read' | 'room' | 'upload';
  startedAt: number;
  durationMs: number;
  /** 0 if the connection broke before an answer came. */
  status: number;
};

/** What the service acknowledged and must not lose. */
export type Acknowledged = {
  rooms: Set<string>;
  /** The text in each uploaded PDF, by the id of its item. */
  items: Map<number, string>;
};

export type Load = {
  samples: Sample[];
  acknowledged: Acknowledged;
  stop(): Promise<void>;
};

export type LoadUser = { token: string; workspaceId: number };

const PAUSE_MS = 20;
/** Longer than the service promises to take for a request while its database or store is unavailable. */
const REQUEST_TIMEOUT_MS = 60_000;

/** Starts a reader, a creator of rooms and an uploader for each user. */
export function startLoad(readUrl: () => string, users: readonly LoadUser[]): Load {
  const samples: Sample[] = [];
  const acknowledged: Acknowledged = { rooms: new Set(), items: new Map() };
  const stopping = new AbortController();
  let number = 0;

  async function send(kind: Sample['kind'], user: LoadUser, path: string, init: RequestInit): Promise<Response | null> {
    const startedAt = performance.now();
    const headers = { ...init.headers, authorization: `Bearer ${user.token}` };
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(readUrl() + path, { ...init, headers, signal }).catch(() => null);
    samples.push({ kind, startedAt, durationMs: performance.now() - startedAt, status: response?.status ?? 0 });
    return response;
  }

  async function read(user: LoadUser): Promise<void> {
    const response = await send('read', user, `/api/workspaces/${user.workspaceId}/library?search=chaos`, {});
    await response?.text().catch(() => '');
  }

  async function createRoom(user: LoadUser): Promise<void> {
    number += 1;
    const name = `chaos-${number}`;
    const body = JSON.stringify({ name, workspace_id: user.workspaceId });
    const headers = { 'content-type': 'application/json' };
    const response = await send('room', user, '/api/dashboard/rooms', { method: 'POST', body, headers });
    await response?.text().catch(() => '');
    if (response?.status === 201) acknowledged.rooms.add(name);
  }

  async function upload(user: LoadUser): Promise<void> {
    number += 1;
    const text = `chaos ${number}`;
    const body = new FormData();
    body.append('file', new Blob([Uint8Array.from(makePdf({ text }))], { type: 'application/pdf' }), `${text}.pdf`);
    const path = `/api/workspaces/${user.workspaceId}/library`;
    const response = await send('upload', user, path, { method: 'POST', body });
    // The connection may break within the answer, which then acknowledges nothing.
    const answer = await response?.text().catch(() => '');
    if (response?.status === 200 && answer) acknowledged.items.set(JSON.parse(answer).item.id, text);
  }

  async function repeat(call: (user: LoadUser) => Promise<void>, user: LoadUser): Promise<void> {
    while (!stopping.signal.aborted) {
      await call(user);
      await sleep(PAUSE_MS);
    }
  }

  const running = users.flatMap((user) => [read, createRoom, upload].map((call) => repeat(call, user)));
  return {
    samples,
    acknowledged,
    async stop() {
      stopping.abort();
      await Promise.all(running);
    },
  };
}
