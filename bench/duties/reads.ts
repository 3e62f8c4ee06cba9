/** The reads of the server with the same duties. */
import { idFromText } from '../../src/core/validation.ts';
import { toLikePattern } from '../../src/db/like-pattern.ts';
import { LabelsAnswer } from '../../src/features/labels/schemas.ts';
import { ItemsAnswer, ListItemsInput } from '../../src/features/library/schemas.ts';
import { Retention } from '../../src/features/retention/schemas.ts';
import { app, Refusal, requireCaller, run, send } from './server.ts';
import { LABELS, LIST, RETENTION, SEARCH } from './statements.ts';

type InWorkspace = { Params: { id: string } };
type ItemRow = { id: number; total: number };

const everyone = ['owner', 'admin', 'member'];

app.get<InWorkspace>('/api/workspaces/:id/retention', async (request, reply) => {
  const { workspaceId } = await requireCaller(request, reply, toWorkspaceId(request.params.id), ['owner']);
  const [row] = await run(RETENTION, [workspaceId]);
  return send(request, reply, Retention.parse(row));
});

app.get<InWorkspace>('/api/workspaces/:id/labels', async (request, reply) => {
  const { workspaceId } = await requireCaller(request, reply, toWorkspaceId(request.params.id), everyone);
  return send(request, reply, LabelsAnswer.parse({ labels: await run(LABELS, [workspaceId]) }));
});

app.get<InWorkspace & { Querystring: Record<string, string> }>(
  '/api/workspaces/:id/library',
  async (request, reply) => {
    const { workspaceId } = await requireCaller(request, reply, toWorkspaceId(request.params.id), everyone);
    const { limit, offset, ...text } = request.query;
    const numbers = { ...(limit && { limit: Number(limit) }), ...(offset && { offset: Number(offset) }) };
    const input = ListItemsInput.parse({ ...text, ...numbers });
    const page = [workspaceId, input.limit, input.offset];
    const items = input.search
      ? await run<ItemRow>(SEARCH, [...page, toLikePattern(input.search)])
      : await run<ItemRow>(LIST, page);
    return send(request, reply, ItemsAnswer.parse({ items, total: items[0]?.total ?? 0 }));
  },
);

export function toWorkspaceId(text: string): number {
  const id = idFromText(text);
  if (id === null) throw new Refusal(404, 'Workspace not found');
  return id;
}
