import type { Actor } from '../../auth/identify.ts';
import { toCreatedBounds } from '../../core/list-filters.ts';
import { secondsOf } from '../../db/columns.ts';
import { byTime, pagedList, readPage, timeKey, timeKeyOf } from '../../db/pages.ts';
import { float, int, json, nullable, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import type { ContactEventsAnswer, ListContactEventsInput, ListedContactEvent } from './schemas.ts';

/** The maximum value of `total`. Further events are not counted. */
const MAX_TOTAL = 10_000;

const params = {
  workspaceId: int,
  type: nullable(text),
  roomId: nullable(int),
  pageId: nullable(int),
  createdFrom: time,
  createdTo: time,
};

const isMatch = `e.workspace_id = $workspaceId and e.created_at >= $createdFrom and e.created_at < $createdTo
      and ($type is null or e.type = $type) and ($roomId is null or e.room_id = $roomId)
      and ($pageId is null or e.booking_page_id = $pageId)`;

const contactEvents = pagedList('list-events-of-contacts', {
  order: { ...byTime('e.created_at', 'e.id', 'desc'), idType: 'number' },
  params,
  returns: {
    id: float,
    type: text,
    contact: nullable(json<ListedContactEvent['contact']>('json')),
    room_id: nullable(int),
    room_name: nullable(text),
    room_display_name: nullable(text),
    booking_page_id: nullable(int),
    booking_page_title: nullable(text),
    created_at: float,
    ...timeKey,
  },
  sql: ({ after, window }) => `
    select e.id::float8 as id, e.type,
      case when c.id is not null then json_build_object('id', c.id, 'name', c.name) end as contact,
      e.room_id, r.name as room_name, r.display_name as room_display_name, e.booking_page_id,
      p.title as booking_page_title,
      ${secondsOf('e.created_at')} as created_at, ${timeKeyOf('e.created_at')}
    from contact_events e
    left join contacts c on c.workspace_id = e.workspace_id and c.id = e.contact_id
    left join rooms r on r.workspace_id = e.workspace_id and r.id = e.room_id
    left join booking_pages p on p.workspace_id = e.workspace_id and p.id = e.booking_page_id
    where ${isMatch} ${after} ${window}`,
});

const countEvents = statement('count-events-of-contacts', {
  params,
  returns: { total: int },
  sql: `select count(*)::int as total from (select from contact_events e where ${isMatch} limit ${MAX_TOTAL}) counted`,
});

/** Lists a page of the contact events that the analytics count, newest first. Throws 400 for an empty range. */
export async function listContactEvents(
  { db }: Pick<Services, 'db'>,
  { workspaceId }: Actor,
  input: ListContactEventsInput,
): Promise<ContactEventsAnswer> {
  const { type = null, room_id: roomId = null, booking_page_id: pageId = null, from, to } = input;
  const matching = { workspaceId, type, roomId, pageId, ...toCreatedBounds(input) };
  const filters = [workspaceId, type, roomId, pageId, from, to];
  const [{ entries: events, next_cursor }, [counted]] = await Promise.all([
    readPage(db.sql, contactEvents, matching, input, filters),
    db.sql.run(countEvents, matching),
  ]);
  return { events, total: counted?.total ?? 0, next_cursor };
}
