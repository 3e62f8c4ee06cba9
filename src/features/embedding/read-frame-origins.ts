/** Whose pages may show a document in a frame. Anyone can ask for it: the policy of the document says so. */
import { notFound } from '../../core/errors.ts';
import { idFromText } from '../../core/requested-id.ts';
import { readSlug } from '../../core/slugs.ts';
import { int, json, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { mediaOrigin, mediaOriginParams, toMediaOriginParams } from '../peers/media.ts';

export type FrameKind = 'room' | 'book' | 'library' | 'webhooks';

/** Who may show a document, and the LiveKit server to which it connects. */
export type FrameAccess = { origins: readonly string[]; mediaOrigin: string | null };

const returns = { origins: json<string[]>('json'), mediaOrigin: nullable(text) };

const ofRoom = statement('read-frame-origins-of-room', {
  params: { name: text, ...mediaOriginParams },
  returns,
  sql: `
    select to_json(w.embed_origins) as origins, ${mediaOrigin} as "mediaOrigin"
    from rooms r join workspaces w on w.id = r.workspace_id
    where r.name = $name`,
});

const ofBookingPage = statement('read-frame-origins-of-booking-page', {
  params: { slug: text },
  returns,
  sql: `
    select to_json(w.embed_origins) as origins, null as "mediaOrigin"
    from booking_pages p join workspaces w on w.id = p.workspace_id
    where p.slug = $slug`,
});

const ofWorkspace = statement('read-frame-origins-of-workspace', {
  params: { id: int },
  returns,
  sql: 'select to_json(embed_origins) as origins, null as "mediaOrigin" from workspaces where id = $id',
});

type Needs = Pick<Services, 'db' | 'settings'>;

/** A `name` that cannot be right names nothing. */
const readers: Readonly<Record<FrameKind, (services: Needs, name: string) => Promise<FrameAccess[]>>> = {
  async room({ db, settings }, roomName) {
    const name = readSlug(roomName);
    return name === null ? [] : db.sql.run(ofRoom, { name, ...toMediaOriginParams(settings) });
  },
  async book({ db }, pageSlug) {
    const slug = readSlug(pageSlug);
    return slug === null ? [] : db.sql.run(ofBookingPage, { slug });
  },
  library: readOfWorkspace,
  webhooks: readOfWorkspace,
};

async function readOfWorkspace({ db }: Needs, text: string): Promise<FrameAccess[]> {
  const id = idFromText(text);
  return id === null ? [] : db.sql.run(ofWorkspace, { id });
}

const resources = { room: 'Room', book: 'Booking page', library: 'Workspace', webhooks: 'Workspace' } as const;

/** Throws 404, which counts as a guess. `name` is the last part of the path of the document. */
export async function readFrameAccess(services: Needs, kind: FrameKind, name: string): Promise<FrameAccess> {
  const [row] = await readers[kind](services, name);
  if (!row) throw notFound(resources[kind]);
  return row;
}
