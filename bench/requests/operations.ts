/** The operations that the benchmark measures, as each server serves them. */
import { createHash } from 'node:crypto';
import type { Call } from '../load.ts';
import { limitKey, query, workspaces } from '../world.ts';

/** The four APIs: of the limit and the naive server, and ours. */
export type Api = 'limitRest' | 'limitTrpc' | 'rest' | 'trpc';

export type Tokens = ReadonlyMap<number, string>;

/** Makes the call with a number that no other call of the operation has. Null if nothing is left to do. */
type MakeCall = (n: number, tokens: Tokens, workspaceId: number) => Call | null;

export type Operation = {
  title: string;
  calls: Partial<Record<Api, MakeCall>>;
  /** Creates what `count` calls consume. */
  prepare?(databaseUrl: string, count: number): Promise<void>;
};

const SEARCH = 'harbor invo';
const BOOKING_PAGES = 100;
const SLOT_SECONDS = 300;
const DAY_SECONDS = 86_400;
const COLOR = '#112233';
const ROOMS = 100;
const ITEMS = 20_000;
const LABELS = 20;
const CONTACTS = 10_000;
/** Different in each run, though the databases are new: a name may also be taken by the warm-up. */
const stamp = Date.now().toString(36);
const firstSlot = Math.ceil((Date.now() / 1000 + DAY_SECONDS) / DAY_SECONDS) * DAY_SECONDS;
/** Tokens of participants who have joined and not left. */
const present: { roomName: string; token: string }[] = [];
let participants = 0;
/** The first item and label of the workspace for writes. */
let firstIds = { item: 1, label: 1 };

/** The operations that change nothing. */
export const reads: readonly string[] = ['retention', 'labels', 'list', 'search'];

export const operations: Record<string, Operation> = {
  retention: {
    title: 'GET retention',
    calls: {
      rest: get((id) => `/api/workspaces/${id}/retention`),
      trpc: ask('retention.read', (id) => ({ id })),
    },
  },
  labels: {
    title: 'GET labels (200)',
    calls: {
      limitRest: limitGet('/api/workspaces/1/labels'),
      limitTrpc: limitGet(`/labels${inputOf({ id: 1 })}`),
      rest: get((id) => `/api/workspaces/${id}/labels`),
      trpc: ask('labels.list', (id) => ({ id })),
    },
  },
  list: {
    title: 'GET library, 50 by date',
    calls: {
      limitRest: limitGet('/api/workspaces/1/library?limit=50'),
      limitTrpc: limitGet(`/library${inputOf({ id: 1, limit: 50 })}`),
      rest: get((id) => `/api/workspaces/${id}/library?limit=50`),
      trpc: ask('library.list', (id) => ({ id, limit: 50 })),
    },
  },
  search: {
    title: 'GET library, search',
    calls: {
      limitRest: limitGet(`/api/workspaces/1/library?limit=50&search=${encodeURIComponent(SEARCH)}`),
      limitTrpc: limitGet(`/library${inputOf({ id: 1, limit: 50, search: SEARCH })}`),
      rest: get((id) => `/api/workspaces/${id}/library?limit=50&search=${encodeURIComponent(SEARCH)}`),
      trpc: ask('library.list', (id) => ({ id, limit: 50, search: SEARCH })),
    },
  },
  room: {
    title: 'POST room',
    calls: {
      limitRest: (n) => ({ method: 'POST', path: '/api/dashboard/rooms', token: limitKey, json: newRoom(n) }),
      limitTrpc: (n) => ({ method: 'POST', path: '/createRoom', token: limitKey, json: newRoom(n) }),
      rest: postRoom('/api/dashboard/rooms'),
      trpc: postRoom('/trpc/rooms.create'),
    },
  },
  label: {
    title: 'POST label',
    calls: {
      rest: post((id) => `/api/workspaces/${id}/labels`, newLabel),
      trpc: post(
        () => '/trpc/labels.create',
        (n, id) => ({ id, ...newLabel(n) }),
      ),
    },
  },
  assign: {
    title: 'POST a label to an item',
    calls: {
      rest: (n, tokens, id) => {
        const { itemId, labelId } = newAssignment(n);
        const path = `/api/workspaces/${id}/library/${itemId}/labels`;
        return { method: 'POST', path, token: tokens.get(id), json: { labelId } };
      },
      trpc: post(
        () => '/trpc/library.assignLabel',
        (n, id) => ({ id, ...newAssignment(n) }),
      ),
    },
    async prepare(databaseUrl) {
      [firstIds] = (await query(
        databaseUrl,
        `select (select min(id) from library_items where workspace_id = $1) as item,
          (select min(id) from labels where workspace_id = $1) as label`,
        [workspaces.write],
      )) as [{ item: number; label: number }];
    },
  },
  contact: {
    title: 'POST contact',
    calls: {
      rest: post((id) => `/api/workspaces/${id}/contacts`, newContact),
      trpc: post(
        () => '/trpc/contacts.create',
        (n, id) => ({ id, ...newContact(n) }),
      ),
    },
  },
  join: {
    title: 'POST join, as a guest',
    calls: {
      rest: (n) => ({ method: 'POST', path: `/api/rooms/${roomName(n)}/join`, json: newGuest(n) }),
      trpc: (n) => ({
        method: 'POST',
        path: '/trpc/participants.join',
        json: { roomName: roomName(n), ...newGuest(n) },
      }),
    },
  },
  leave: {
    title: 'POST leave',
    calls: {
      rest: () => {
        const participant = present.pop();
        if (participant === undefined) return null;
        const { roomName, token } = participant;
        return { method: 'POST', path: `/api/rooms/${roomName}/leave`, json: { token } };
      },
      trpc: () => {
        const participant = present.pop();
        return participant === undefined
          ? null
          : { method: 'POST', path: '/trpc/participants.leave', json: participant };
      },
    },
    async prepare(databaseUrl, count) {
      present.length = 0;
      for (let index = 0; index < count; index += 1) {
        participants += 1;
        const body = createHash('sha256').update(`${stamp}-${participants}`).digest('base64url');
        present.push({ roomName: roomName(participants), token: `lnp_${body}` });
      }
      await query(
        databaseUrl,
        `insert into participants
            (workspace_id, room_id, name, status, token_hash, created_at, joined_at, last_seen_at)
          select r.workspace_id, r.id, 'Guest', 'joined', sha256(convert_to(p.token, 'UTF8')), now(), now(), now()
          from unnest($1::text[], $2::text[]) as p (room, token) join rooms r on r.name = p.room`,
        [present.map(({ roomName }) => roomName), present.map(({ token }) => token)],
      );
    },
  },
  booking: {
    title: 'POST booking',
    calls: {
      rest: (n) => ({ method: 'POST', path: `/api/book/page-${1 + (n % BOOKING_PAGES)}`, json: newBooking(n) }),
      trpc: (n) => ({
        method: 'POST',
        path: '/trpc/bookings.book',
        json: { slug: `page-${1 + (n % BOOKING_PAGES)}`, ...newBooking(n) },
      }),
    },
    // The mail of earlier calls. Otherwise the worker of our server sends the mail of both, and the queue is full.
    async prepare(databaseUrl) {
      await query(databaseUrl, "delete from mail_messages where state = 'queued'");
    },
  },
};

function get(pathOf: (workspaceId: number) => string): MakeCall {
  const id = workspaces.read;
  return (_, tokens) => ({ method: 'GET', path: pathOf(id), token: tokens.get(id) });
}

function ask(procedure: string, inputFor: (workspaceId: number) => object): MakeCall {
  return get((id) => `/trpc/${procedure}${inputOf(inputFor(id))}`);
}

function inputOf(input: object): string {
  return `?input=${encodeURIComponent(JSON.stringify(input))}`;
}

function limitGet(path: string): MakeCall {
  return () => ({ method: 'GET', path, token: limitKey });
}

function post(pathOf: (workspaceId: number) => string, bodyOf: (n: number, workspaceId: number) => object): MakeCall {
  return (n, tokens, id) => ({ method: 'POST', path: pathOf(id), token: tokens.get(id), json: bodyOf(n, id) });
}

/** A key determines the workspace of the room; with a session it is sent. */
function postRoom(path: string): MakeCall {
  return (n, tokens, id) => {
    const token = tokens.get(id);
    const workspace = token?.startsWith('lns_') ? { workspace_id: id } : {};
    return { method: 'POST', path, token, json: { ...newRoom(n), ...workspace } };
  };
}

function newRoom(n: number) {
  return { name: `bench-${stamp}-${n}`, accent_color: COLOR };
}

function newLabel(n: number) {
  return { name: `Label ${stamp} ${n}`, color: COLOR };
}

function newAssignment(n: number) {
  return { itemId: firstIds.item + (n % ITEMS), labelId: firstIds.label + (Math.floor(n / ITEMS) % LABELS) };
}

function newContact(n: number) {
  return { name: `Contact ${n}`, email: `${stamp}-${n}@example.org` };
}

function roomName(n: number): string {
  return `room-1-${1 + (n % ROOMS)}`;
}

/** A guest whom the workspace knows. */
function newGuest(n: number) {
  return { name: `Guest ${n}`, email: `c${1 + (n % CONTACTS)}@example.org` };
}

/** A time that is free on its page: the pages take turns, each page goes through its slots. */
function newBooking(n: number) {
  return { ...newGuest(n * 7), starts_at: firstSlot + Math.floor(n / BOOKING_PAGES) * SLOT_SECONDS };
}
