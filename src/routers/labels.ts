import { ListPageInput, pageAs } from '../core/list-page.ts';
import { Ok } from '../core/shapes.ts';
import { createLabel, deleteLabel, listLabels, ONLY_ADMINS_CREATE, updateLabel } from '../features/labels/labels.ts';
import {
  CreateLabelInput,
  LabelAnswer,
  LabelInput,
  LabelsAnswer,
  UpdateLabelInput,
} from '../features/labels/schemas.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';

const tags = ['Labels'];

export const labelsRouter = router({
  list: inWorkspace('member')
    .meta({
      openapi: {
        method: 'GET',
        path: '/api/workspaces/{id}/labels',
        tags,
        summary: 'List labels',
        successDescription: 'The labels of the workspace',
        description: 'Returns the labels of the workspace, oldest first.',
      },
    })
    .input(ListPageInput)
    .output(LabelsAnswer)
    .query(async ({ ctx, input }) => pageAs('labels', await listLabels(ctx.services, ctx.actor, input))),

  create: inWorkspace('admin', ONLY_ADMINS_CREATE)
    .meta({
      scopeLevel: 'write',
      refusals: [409],
      openapi: {
        method: 'POST',
        path: '/api/workspaces/{id}/labels',
        tags,
        summary: 'Create a label',
        successDescription: 'The new label',
        description: 'Owner or admin. 409 if the workspace already has a label with this name.',
      },
    })
    .input(CreateLabelInput)
    .output(LabelAnswer)
    .mutation(async ({ ctx, input }) => ({ label: await createLabel(ctx.services, ctx.actor, input) })),

  update: inWorkspace('admin', 'Only owners and admins can update labels')
    .meta({
      scopeLevel: 'write',
      refusals: [409],
      openapi: {
        method: 'PATCH',
        path: '/api/workspaces/{id}/labels/{labelId}',
        tags,
        summary: 'Change a label',
        successDescription: 'The updated label',
        description: 'Owner or admin. Changes only the fields that are sent. 409 if another label has this name.',
      },
    })
    .input(UpdateLabelInput)
    .output(LabelAnswer)
    .mutation(async ({ ctx, input }) => ({ label: await updateLabel(ctx.services, ctx.actor, input) })),

  delete: inWorkspace('admin', 'Only owners and admins can delete labels')
    .meta({
      scopeLevel: 'write',
      openapi: {
        method: 'DELETE',
        path: '/api/workspaces/{id}/labels/{labelId}',
        tags,
        summary: 'Delete a label',
        successDescription: 'The label is deleted',
        description: 'Owner or admin. Deletes the label and removes it from every item.',
      },
    })
    .input(LabelInput)
    .output(Ok)
    .mutation(({ ctx, input }) => deleteLabel(ctx.services, ctx.actor, input)),
});
