/**
 * The hand-written limit: Fastify and pg, no validation library, one prepared statement a request. It runs on a schema
 * of its own (seed-limit.sql).
 *   SHAPE=json (default): PostgreSQL writes the JSON, and the server passes it on.
 *   SHAPE=rows: PostgreSQL sends rows, and the server writes the JSON. `total` of the list is a maintained counter.
 */
import { createHash } from 'node:crypto';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import pg from 'pg';

type Row = Record<string, unknown>;
type NewRoom = {
  name?: unknown;
  accent_color?: string;
  waiting_room_enabled?: number;
  waiting_room_message?: string;
  scheduled_at?: number;
};

const ROOM_NAME = /^[a-z0-9](?:[a-z0-9]|-(?=[a-z0-9])){1,63}$/;
const UNIQUE_VIOLATION = '23505';
const sendsRows = process.env.SHAPE === 'rows';

/** The caller and their role. No row means 401, no role 403. */
const ME = `me as (select k.created_by as user_id, k.workspace_id, m.role from api_keys k
  left join members m on m.user_id = k.created_by and m.workspace_id = $2
  where k.key_hash = $1 and k.is_active and k.workspace_id = $2)`;
const LABELS = `select l.id, l.name, l.color, coalesce(u.name, '') as created_by_name,
    ${seconds('l.created_at')} as created_at
  from labels l left join users u on u.id = l.created_by where l.workspace_id = $2 order by l.created_at, l.id`;
/**
 * Names and labels are looked up for each row of the page. With joins, the generic plan takes `limit $3` for a tenth of
 * the table.
 */
const PAGE = `select i.id, i.name, i.mime_type, i.size, ${seconds('i.created_at')} as created_at,
    ${seconds('i.updated_at')} as updated_at,
    coalesce((select u.name from users u where u.id = i.uploaded_by), '') as uploaded_by_name,
    coalesce((select
      json_agg(json_build_object('id', l.id, 'name', l.name, 'color', l.color) order by l.created_at, l.id)
      from labels l where l.id = any(array(select il.label_id from item_labels il where il.item_id = i.id))),
      '[]'::json) as labels
  from page i order by i.created_at desc, i.id desc`;
const ALL = `page as materialized (
  select * from library_items where workspace_id = $2 order by created_at desc, id desc limit $3 offset $4)`;
/** The hits are materialized. Otherwise the generic plan walks the date index and tests every name. */
const HITS = `hit as materialized (select * from library_items where workspace_id = $2 and name ilike $5),
  page as materialized (select * from hit order by created_at desc, id desc limit $3 offset $4)`;
const TOTAL = sendsRows
  ? '(select n from library_counts where workspace_id = $2)'
  : '(select count(*)::int from library_items where workspace_id = $2)';
const FOUND = '(select count(*)::int from hit)';

const statements = {
  labels: sendsRows ? asRows(LABELS) : asJson(LABELS),
  list: sendsRows ? asRows(`select p.*, ${TOTAL} as total from (${PAGE}) p`, ALL) : asJson(PAGE, TOTAL, ALL),
  search: sendsRows ? asRows(`select p.*, ${FOUND} as total from (${PAGE}) p`, HITS) : asJson(PAGE, FOUND, HITS),
  room: `with me as (select k.created_by as user_id, k.workspace_id from api_keys k
      where k.key_hash = $1 and k.is_active),
    r as (insert into rooms
      (workspace_id, user_id, name, accent_color, waiting_room_enabled, waiting_room_message, scheduled_at)
      select workspace_id, user_id, $2, $3, $4, $5, to_timestamp($6) from me returning *)
    select id, name, user_id, ${seconds('created_at')} as created_at, ${seconds('last_used_at')} as last_used_at,
      ${seconds('scheduled_at')} as scheduled_at, accent_color, waiting_room_enabled, waiting_room_message from r`,
};

const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: 16,
  options: '-c jit=off -c plan_cache_mode=force_generic_plan',
});
const app = Fastify({ logger: false });

app.get<{ Params: { id: string } }>('/api/workspaces/:id/labels', async (request, reply) => {
  const rows = await ask(request, reply, 'labels', request.params.id, []);
  if (rows === null) return reply;
  if (!sendsRows) return sendJson(reply, `{"labels":${rows[0]?.body}}`);
  return sendJson(reply, JSON.stringify({ labels: withoutRole(rows) }));
});

app.get<{ Params: { id: string }; Querystring: { search?: string; limit?: string; offset?: string } }>(
  '/api/workspaces/:id/library',
  async (request, reply) => {
    const { search, limit = '50', offset = '0' } = request.query;
    const page = [Number(limit), Number(offset)];
    const { id } = request.params;
    const rows = search
      ? await ask(request, reply, 'search', id, [...page, `%${search.replace(/[\\%_]/g, '\\$&')}%`])
      : await ask(request, reply, 'list', id, page);
    if (rows === null) return reply;
    if (!sendsRows) return sendJson(reply, `{"items":${rows[0]?.body},"total":${rows[0]?.extra}}`);
    const items = withoutRole(rows).map(({ total, ...item }) => item);
    return sendJson(reply, JSON.stringify({ items, total: rows[0]?.total ?? 0 }));
  },
);

app.post<{ Body: NewRoom }>('/api/dashboard/rooms', async (request, reply) => {
  const key = readKey(request);
  if (key === null) return fail(reply, 401, 'Unauthorized');
  const body = request.body ?? {};
  if (typeof body.name !== 'string' || !ROOM_NAME.test(body.name)) return fail(reply, 400, 'Invalid room name');
  const { name, accent_color = '#6366f1', waiting_room_enabled = 0, waiting_room_message, scheduled_at } = body;
  const values = [key, name, accent_color, waiting_room_enabled, waiting_room_message ?? null, scheduled_at ?? null];
  try {
    const { rows } = await pool.query<Row>({ name: 'room', text: statements.room, values });
    return rows[0] ? reply.code(201).send({ room: rows[0] }) : fail(reply, 401, 'Unauthorized');
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION)
      return fail(reply, 409, 'Room name already taken');
    throw error;
  }
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });

function seconds(column: string): string {
  return `floor(extract(epoch from ${column}))::int`;
}

function asRows(query: string, ctes = ''): string {
  return `with ${ME}${ctes && ', '}${ctes} select me.role, r.* from me left join lateral (${query}) r on true`;
}

function asJson(query: string, extra = 'null', ctes = ''): string {
  return `with ${ME}${ctes && ', '}${ctes} select (select role from me) as role,
    (select coalesce(json_agg(r), '[]'::json) from (${query}) r)::text as body, ${extra} as extra
    from (select 1) one where exists (select from me)`;
}

/** Runs the statement of an operation for the caller. Sends the error and returns null if they may not call it. */
async function ask(
  request: FastifyRequest,
  reply: FastifyReply,
  name: 'labels' | 'list' | 'search',
  id: string,
  values: unknown[],
): Promise<Row[] | null> {
  const key = readKey(request);
  const rows =
    key === null
      ? []
      : (await pool.query<Row>({ name, text: statements[name], values: [key, Number(id), ...values] })).rows;
  if (rows[0]?.role) return rows;
  fail(reply, rows[0] ? 403 : 401, rows[0] ? 'Forbidden' : 'Unauthorized');
  return null;
}

function readKey({ headers }: FastifyRequest): Buffer | null {
  const { authorization } = headers;
  if (!authorization?.startsWith('Bearer lnx_')) return null;
  return createHash('sha256').update(authorization.slice('Bearer '.length)).digest();
}

function withoutRole(rows: Row[]): Row[] {
  return rows[0]?.id === null ? [] : rows.map(({ role, ...row }) => row);
}

function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(text);
}

function fail(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).send({ error });
}
