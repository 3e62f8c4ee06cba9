/**
 * What a link to a room, a booking page or a workspace says of itself where somebody pastes it. Anyone can ask for it,
 * so a room whose hosts decide who comes in says no more than one that does not exist.
 */
import { hashToken, isLinkToken } from '../../auth/tokens.ts';
import { notFound } from '../../core/errors.ts';
import { readSlug } from '../../core/slugs.ts';
import { bool, bytes, int, nullable, statement, text } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import { mediaOrigin, mediaOriginParams, toMediaOriginParams } from '../peers/media.ts';

export type LinkKind = 'room' | 'book' | 'join';

/** The title and the description of a page, as text. */
export type LinkPreview = { title: string; description: string };

/** `mediaOrigin`: the LiveKit server to which the page connects; null if there is none. */
export type LinkPage = LinkPreview & { mediaOrigin: string | null };

/** What the pages of this kind say if nothing is known about the link. */
export const neutralPreviews: Readonly<Record<LinkKind, LinkPreview>> = {
  room: { title: 'Meeting room', description: 'Open the link to join the meeting in your browser.' },
  book: { title: 'Booking page', description: 'Choose a time for a meeting.' },
  join: { title: 'Invitation', description: 'You are invited to a workspace.' },
};

const roomOfLink = statement('read-room-of-link', {
  params: { name: text, ...mediaOriginParams },
  returns: { title: text, isOpen: bool, mediaOrigin: nullable(text) },
  sql: `
    select coalesce(display_name, name) as title,
      locked_at is null and not members_only and not waiting_room_enabled as "isOpen",
      ${mediaOrigin} as "mediaOrigin"
    from rooms r where name = $name`,
});

const bookingPage = statement('read-booking-page-of-link', {
  params: { slug: text },
  returns: { title: text, host: text, duration: int },
  sql: `
    select p.title, u.name as host, p.duration from booking_pages p join users u on u.id = p.user_id
    where p.slug = $slug`,
});

const invitingWorkspace = statement('read-workspace-of-link', {
  params: { inviteHash: bytes },
  returns: { name: text },
  sql: 'select name from workspaces where invite_hash = $inviteHash',
});

type Needs = Pick<Services, 'db' | 'settings'>;

const readers: Readonly<
  Record<LinkKind, ({ db, settings }: Needs, name: string) => Promise<(LinkPreview & Partial<LinkPage>) | null>>
> = {
  async room({ db, settings }, roomName) {
    const name = readSlug(roomName);
    const [room] = name === null ? [] : await db.sql.run(roomOfLink, { name, ...toMediaOriginParams(settings) });
    // Whoever opens the link of a room has not guessed its name, whatever the page says of it.
    if (!room) return null;
    const { isOpen, title, mediaOrigin } = room;
    return { ...neutralPreviews.room, ...(isOpen && { title }), mediaOrigin };
  },
  async book({ db }, pageSlug) {
    const slug = readSlug(pageSlug);
    const [page] = slug === null ? [] : await db.sql.run(bookingPage, { slug });
    return page ? { title: page.title, description: `Book ${page.duration} minutes with ${page.host}.` } : null;
  },
  async join({ db }, token) {
    if (!isLinkToken(token)) return null;
    const [workspace] = await db.sql.run(invitingWorkspace, { inviteHash: hashToken(token) });
    return workspace ? { title: `Join ${workspace.name}`, description: neutralPreviews.join.description } : null;
  },
};

const resources = { room: 'Room', book: 'Booking page', join: 'Invite' } as const;

/** Reads what is public about a link. `name` is the last part of its path. Throws 404 if there is nothing. */
export async function readLinkPreview(services: Needs, kind: LinkKind, name: string): Promise<LinkPage> {
  const preview = await readers[kind](services, name);
  if (preview === null) throw notFound(resources[kind]);
  return { mediaOrigin: null, ...preview };
}
