import type { Actor } from '../../auth/identify.ts';
import { notFound } from '../../core/errors.ts';
import { toCreatedBounds } from '../../core/list-filters.ts';
import { secondsOf } from '../../db/columns.ts';
import { exactCount } from '../../db/counters.ts';
import { toLikePattern } from '../../db/like-pattern.ts';
import { byTime, type PageText, pagedList, runPage, timeKeyOf, toPage } from '../../db/pages.ts';
import { bool, float, int, nullable, type RowOf, statement, text, time } from '../../db/statements.ts';
import type { Services } from '../../services.ts';
import {
  type ContactInput,
  type ContactReadAnswer,
  type ContactsAnswer,
  type ListContactsInput,
  type ListedContact,
  MAX_EVENTS,
} from './schemas.ts';

type Db = Pick<Services, 'db'>;

/** The maximum value of `total` with a filter. Further matches are not counted. */
const MAX_SEARCH_TOTAL = 10_000;
/** The number of contacts that a search scans if it cannot use the index. */
const MAX_SCANNED = 10_000;
/** The index is on trigrams, so it helps only if the search has three consecutive letters or digits. */
const SEARCHABLE = /[\p{L}\p{N}]{3}/u;

const listParams = { workspaceId: int };
const rangeParams = { ...listParams, createdFrom: time, createdTo: time };
const searchParams = { ...rangeParams, pattern: text };
const contactFields = { id: int, workspace_id: int, name: text, email: text, created_at: float };

const verified = { email_verified: bool };

/**
 * SQL expression: whether the address of the contact `c` is confirmed. True only for people who are members or have
 * joined a room. Otherwise, members could add any address as a contact to find out whether it has an account.
 */
const isVerified = `
      exists (
        select from users u
        where u.email = c.email and u.email_verified_at is not null and (
          exists (select from members m where m.workspace_id = c.workspace_id and m.user_id = u.id)
          or exists (select from participants p where p.workspace_id = c.workspace_id and p.user_id = u.id))
      ) as email_verified`;

const contacts = 'contacts where workspace_id = $workspaceId';
const newestFirst = 'order by created_at desc, id desc';
const isInRange = 'created_at >= $createdFrom and created_at < $createdTo';
const isMatch = `(name ilike $pattern or email ilike $pattern) and ${isInRange}`;
const order = byTime('created_at', 'id', 'desc');

const countMatches = `
      select least(count(*), ${MAX_SEARCH_TOTAL})::int as total, count(*) as matches from matching`;
const fewMatches = ({ after, window }: PageText) =>
  `select * from matching where n.matches <= ${MAX_SEARCH_TOTAL} ${after} ${window}`;
/**
 * Used if there are more matches than the maximum of `total`. A scan of the contacts, newest first, then soon fills a
 * page.
 */
const manyMatches = ({ after, window }: PageText) => `select id, workspace_id, name, email, created_at
      from ${contacts} and n.matches > ${MAX_SEARCH_TOTAL} and ${isMatch} ${after} ${window}`;

const listFields = { total: int, ...contactFields, ...verified, id: nullable(int), page_key: nullable(float) };

const lists = {
  all: pagedList('list-contacts', {
    order,
    params: listParams,
    returns: listFields,
    sql: ({ after, window }) =>
      selectPage(
        `select ${exactCount('contacts')} as total from workspaces w where w.id = $workspaceId`,
        `select * from ${contacts} ${after} ${window}`,
      ),
  }),
  created: pagedList('list-contacts-by-time', {
    order,
    params: rangeParams,
    returns: listFields,
    sql: ({ after, window }) =>
      selectPage(
        `select count(*)::int as total from (
          select from ${contacts} and ${isInRange} limit ${MAX_SEARCH_TOTAL}) counted`,
        `select * from ${contacts} and ${isInRange} ${after} ${window}`,
      ),
  }),
  /** Repeats the expressions of the index `contacts_search`, so that PostgreSQL uses the index. */
  indexed: pagedList('search-contacts', {
    order,
    params: searchParams,
    returns: listFields,
    sql: (page) => `${materialize(`contacts where workspace_id::bigint = $workspaceId::bigint
        and (name || e'\\n' || email) ilike $pattern and ${isMatch}`)}
    ${selectPage(countMatches, `(${fewMatches(page)}) union all (${manyMatches(page)})`)}`,
  }),
  scanned: pagedList('search-newest-contacts', {
    order,
    params: searchParams,
    returns: listFields,
    sql: (page) => `${materialize(`(
      select * from ${contacts} and ${isInRange} ${newestFirst} limit ${MAX_SCANNED}) newest where ${isMatch}`)}
    ${selectPage(countMatches, fewMatches(page))}`,
  }),
};

type ListedRow = RowOf<typeof lists.all.byOffset>;

const contactById = statement('read-contact', {
  params: { workspaceId: int, contactId: int },
  returns: { ...contactFields, ...verified },
  sql: `
    select c.id, c.workspace_id, c.name, c.email, ${secondsOf('c.created_at')} as created_at, ${isVerified}
    from contacts c where c.workspace_id = $workspaceId and c.id = $contactId`,
});

const eventsOf = statement('list-contact-events', {
  params: { workspaceId: int, contactId: int },
  returns: {
    id: float,
    type: text,
    room_id: nullable(int),
    room_name: nullable(text),
    room_display_name: nullable(text),
    booking_page_id: nullable(int),
    booking_page_title: nullable(text),
    created_at: float,
  },
  sql: `
    select e.id::float8 as id, e.type, e.room_id, r.name as room_name, r.display_name as room_display_name,
      e.booking_page_id, p.title as booking_page_title, ${secondsOf('e.created_at')} as created_at
    from contact_events e
    left join rooms r on r.workspace_id = e.workspace_id and r.id = e.room_id
    left join booking_pages p on p.workspace_id = e.workspace_id and p.id = e.booking_page_id
    where e.workspace_id = $workspaceId and e.contact_id = $contactId
    order by e.created_at desc, e.id desc limit ${MAX_EVENTS}`,
});

function materialize(source: string): string {
  return `
    with matching as materialized (
      select id, workspace_id, name, email, created_at from ${source} limit ${MAX_SEARCH_TOTAL + 1})`;
}

/** Each row contains `total`. An empty page has one row, in which all other fields are null. */
function selectPage(total: string, found: string): string {
  return `
    select n.total, c.id, c.workspace_id, c.name, c.email, ${secondsOf('c.created_at')} as created_at,
      ${isVerified}, ${timeKeyOf('c.created_at')}
    from (${total}) n left join lateral (${found}) c on true order by c.created_at desc, c.id desc`;
}

/**
 * Lists a page of the workspace's contacts, newest first. `total` is the number of all matching contacts, but at most
 * `MAX_SEARCH_TOTAL` with a filter. A search without three consecutive letters or digits covers only the newest
 * `MAX_SCANNED` contacts, because no index supports shorter patterns.
 */
export async function listContacts(
  { db }: Db,
  { workspaceId }: Actor,
  input: ListContactsInput,
): Promise<ContactsAnswer> {
  const { search, from, to } = input;
  const filters = [workspaceId, search, from, to];
  const range = { workspaceId, ...toCreatedBounds(input) };
  const searched = search && SEARCHABLE.test(search) ? lists.indexed : lists.scanned;
  const listed = from === undefined && to === undefined ? lists.all : lists.created;
  const list = search ? searched : listed;
  const rows = search
    ? await runPage(db.sql, searched, { ...range, pattern: toLikePattern(search) }, input, filters)
    : await runPage<typeof range, ListedRow>(db.sql, listed, range, input, filters);
  // The rows also contain `total`, which the output schema drops.
  const { entries: contacts, next_cursor } = toPage(list, rows.filter(isContact), input, filters);
  return { contacts, total: rows[0]?.total ?? 0, next_cursor };
}

/** Returns false for the row that holds only the total of an empty page. */
function isContact(row: ListedRow): row is ListedRow & ListedContact & { page_key: number } {
  return row.id !== null;
}

/** Returns a contact with its latest events. Throws 404. */
export async function readContact(
  { db }: Db,
  { workspaceId }: Actor,
  { contactId }: ContactInput,
): Promise<ContactReadAnswer> {
  const [contact] = await db.sql.run(contactById, { workspaceId, contactId });
  if (!contact) throw notFound('Contact');
  return { contact, events: await db.sql.run(eventsOf, { workspaceId, contactId }) };
}
