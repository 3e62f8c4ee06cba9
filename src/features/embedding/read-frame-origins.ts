/** Whose pages may show a document in a frame. Anyone can ask for it: the policy of the document says so. */
import { notFound } from '../../core/errors.ts';
import { idFromText } from '../../core/requested-id.ts';
import { readSlug } from '../../core/slugs.ts';
import { int, json, type Sql, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';

export type FrameKind = 'room' | 'book' | 'library' | 'webhooks';

const returns = { origins: json<string[]>('json') };

const ofRoom = statement('read-frame-origins-of-room', {
  params: { name: text },
  returns,
  sql: `
    select to_json(w.embed_origins) as origins from rooms r join workspaces w on w.id = r.workspace_id
    where r.name = $name`,
});

const ofBookingPage = statement('read-frame-origins-of-booking-page', {
  params: { slug: text },
  returns,
  sql: `
    select to_json(w.embed_origins) as origins from booking_pages p join workspaces w on w.id = p.workspace_id
    where p.slug = $slug`,
});

const ofWorkspace = statement('read-frame-origins-of-workspace', {
  params: { id: int },
  returns,
  sql: 'select to_json(embed_origins) as origins from workspaces where id = $id',
});

/** A `name` that cannot be right names nothing. */
const readers: Readonly<Record<FrameKind, (sql: Sql, name: string) => Promise<{ origins: string[] }[]>>> = {
  async room(sql, roomName) {
    const name = readSlug(roomName);
    return name === null ? [] : sql.run(ofRoom, { name });
  },
  async book(sql, pageSlug) {
    const slug = readSlug(pageSlug);
    return slug === null ? [] : sql.run(ofBookingPage, { slug });
  },
  library: readOfWorkspace,
  webhooks: readOfWorkspace,
};

async function readOfWorkspace(sql: Sql, text: string): Promise<{ origins: string[] }[]> {
  const id = idFromText(text);
  return id === null ? [] : sql.run(ofWorkspace, { id });
}

const resources = { room: 'Room', book: 'Booking page', library: 'Workspace', webhooks: 'Workspace' } as const;

/** Returns the origins. Throws 404, which counts as a guess. `name` is the last part of the path of the document. */
export async function readFrameOrigins(
  { db }: Pick<Services, 'db'>,
  kind: FrameKind,
  name: string,
): Promise<readonly string[]> {
  const [row] = await readers[kind](db.sql, name);
  if (!row) throw notFound(resources[kind]);
  return row.origins;
}
