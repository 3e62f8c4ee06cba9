import { z } from 'zod';
import { nextCursor } from '../../core/list-page.ts';
import { requestedId } from '../../core/requested-id.ts';
import { hexColor, id, optional, requiredText, unixSeconds, withDefault } from '../../core/validation.ts';

const MAX_LABEL_NAME_LENGTH = 64;
export const DEFAULT_COLOR = '#6366f1';

const labelName = requiredText(MAX_LABEL_NAME_LENGTH, 'Name is required')
  .describe('Unique in the workspace (case-sensitive), at most 64 characters')
  .meta({ example: 'Contracts' });

const color = hexColor.describe('Hex color').meta({ example: DEFAULT_COLOR });

export const Label = z
  .object({
    id,
    name: z.string(),
    color: z.string().meta({ example: DEFAULT_COLOR }),
    created_by_name: z.string().describe('Display name of the creator'),
    created_at: unixSeconds,
  })
  .meta({ id: 'Label', description: 'A colored tag for library items' });
export type Label = z.infer<typeof Label>;

/** A label as returned by create and update. */
export const LabelRecord = Label.extend({
  workspace_id: id,
  created_by: id.nullable().describe('User ID of the creator; null if the user was deleted'),
}).meta({ id: 'LabelRecord' });
export type LabelRecord = z.infer<typeof LabelRecord>;

export const CreateLabelInput = z
  .object({
    name: labelName,
    color: withDefault(color, DEFAULT_COLOR),
  })
  .meta({ id: 'CreateLabelRequest' });
export type CreateLabelInput = z.infer<typeof CreateLabelInput>;

export const LabelInput = z.object({ labelId: requestedId.describe('Label ID') });
export type LabelInput = z.infer<typeof LabelInput>;

export const UpdateLabelInput = LabelInput.extend({ name: optional(labelName), color: optional(color) }).meta({
  id: 'UpdateLabelRequest',
});
export type UpdateLabelInput = z.infer<typeof UpdateLabelInput>;

export const LabelsAnswer = z.object({ labels: z.array(Label), next_cursor: nextCursor }).meta({ id: 'LabelList' });
export const LabelAnswer = z.object({ label: LabelRecord }).meta({ id: 'LabelResponse' });
