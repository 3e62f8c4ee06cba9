/** The reads of the server with the same duties. */
import { idFromText } from '../../src/core/requested-id.ts';
import { toLikePattern } from '../../src/db/like-pattern.ts';
import { byTime, toPage } from '../../src/db/pages.ts';
import { LabelsAnswer } from '../../src/features/labels/schemas.ts';
import { itemLists } from '../../src/features/library/item-statements.ts';
import { ItemsAnswer, ListItemsInput } from '../../src/features/library/schemas.ts';
import { Retention } from '../../src/features/retention/schemas.ts';
import { app, Refusal, requireCaller, run, send } from './server.ts';
import { LABELS, LIST, RETENTION, SEARCH } from './statements.ts';

type InWorkspace = { Params: { id: string } };
type Row = { id: number; page_key: number };
type ItemRow = Row & { total: number };

const labelList = { name: 'list-labels', order: byTime('l.created_at', 'l.id', 'asc') };

const everyone = ['owner', 'admin', 'member'];

app.get<InWorkspace>('/api/workspaces/:id/retention', async (request, reply) => {
  const { workspaceId } = await requireCaller(request, reply, toWorkspaceId(request.params.id), ['owner']);
  const [row] = await run(RETENTION, [workspaceId]);
  return send(request, reply, Retention.parse(row));
});

app.get<InWorkspace>('/api/workspaces/:id/labels', async (request, reply) => {
  const { workspaceId } = await requireCaller(request, reply, toWorkspaceId(request.params.id), everyone);
  const { entries, next_cursor } = toPage(labelList, await run<Row>(LABELS, [workspaceId]), {}, [workspaceId]);
  return send(request, reply, LabelsAnswer.parse({ labels: entries, next_cursor }));
});

app.get<InWorkspace & { Querystring: Record<string, string> }>(
  '/api/workspaces/:id/library',
  async (request, reply) => {
    const { workspaceId } = await requireCaller(request, reply, toWorkspaceId(request.params.id), everyone);
    const { limit, offset, ...text } = request.query;
    const numbers = { ...(limit && { limit: Number(limit) }), ...(offset && { offset: Number(offset) }) };
    const input = ListItemsInput.parse({ ...text, ...numbers });
    const page = [workspaceId, input.limit + 1, input.offset];
    const pattern = input.search ? toLikePattern(input.search) : null;
    const rows = pattern === null ? await run<ItemRow>(LIST, page) : await run<ItemRow>(SEARCH, [...page, pattern]);
    const list = pattern === null ? itemLists.all.date.desc : itemLists.search.date.desc;
    const { entries: items, next_cursor } = toPage(list, rows, input, [workspaceId, pattern, undefined]);
    return send(request, reply, ItemsAnswer.parse({ items, total: rows[0]?.total ?? 0, next_cursor }));
  },
);

export function toWorkspaceId(text: string): number {
  const id = idFromText(text);
  if (id === null) throw new Refusal(404, 'Workspace not found');
  return id;
}
