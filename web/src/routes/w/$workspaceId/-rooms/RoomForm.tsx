import type { Inputs, Outputs } from '@lynxroom/client';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import {
  CheckboxField,
  Field,
  FieldGroup,
  Form,
  SelectField,
  TextAreaField,
  TextField,
} from '../../../../components/Form.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { toLocalInput } from '../../../../lib/format.ts';
import { recorderOptions, viewerOptions } from './room-options.ts';

type Room = Outputs['rooms']['read']['room'];

export type RoomValues = Omit<Inputs['rooms']['create'], 'workspace_id' | 'workspaceId'>;

const DEFAULT_COLOR = '#6366f1';

type RoomFormProps = {
  /** The room to change. Without one, the form is for a new room, which can be given a name. */
  room?: Room;
  action: string;
  error: unknown;
  isPending: boolean;
  onSubmit: (values: RoomValues) => void;
};

/** The name, schedule, branding and waiting room of a room, and who may do what in it. */
export function RoomForm({ room, action, error, isPending, onSubmit }: RoomFormProps) {
  const [look, setLook] = useState({ name: room?.display_name ?? '', color: room?.accent_color ?? DEFAULT_COLOR });
  // Without a name, the service chooses one that is free.
  const [hasName, setHasName] = useState(false);

  function submit(values: FormData): void {
    const text = (name: string): string => String(values.get(name) ?? '').trim();
    const scheduled = text('scheduled_at');
    const flag = (name: string): 0 | 1 => (values.has(name) ? 1 : 0);
    const choice = <Value extends string>(name: string, options: readonly { value: Value }[]): Value | undefined =>
      options.find(({ value }) => value === text(name))?.value;
    setHasName(text('name') !== '');
    onSubmit({
      ...(text('name') !== '' && { name: text('name') }),
      display_name: text('display_name') || null,
      scheduled_at: scheduled === '' ? null : Math.floor(new Date(scheduled).getTime() / 1000),
      accent_color: text('accent_color'),
      waiting_room_enabled: flag('waiting_room_enabled'),
      waiting_room_message: text('waiting_room_message') || null,
      members_only: flag('members_only'),
      max_participants: text('max_participants') === '' ? null : Number(text('max_participants')),
      who_may_record: choice('who_may_record', recorderOptions),
      recordings_visible_to: choice('recordings_visible_to', viewerOptions),
      chat_enabled: flag('chat_enabled'),
      relay_only: flag('relay_only'),
      media: values.has('media') ? 'mesh' : null,
    });
  }

  return (
    <Form onSubmit={submit} error={error} takenField={hasName ? 'name' : undefined}>
      <UnsavedChanges save={{ isPending }} />
      <TextField
        name="display_name"
        label="Title"
        maxLength={100}
        defaultValue={look.name}
        onChange={({ target }) => setLook({ ...look, name: target.value })}
      />
      {room === undefined && (
        <TextField
          name="name"
          label="Name in the link"
          maxLength={64}
          hint="Lower-case letters, digits and hyphens. Leave it empty to get a generated name."
        />
      )}
      <TextField
        name="scheduled_at"
        label="Scheduled for"
        type="datetime-local"
        hint="Optional, in your time zone"
        defaultValue={room?.scheduled_at ? toLocalInput(room.scheduled_at) : ''}
      />
      <CheckboxField
        name="waiting_room_enabled"
        label="Guests wait until a host admits them"
        hint="Members of the workspace do not wait."
        defaultChecked={room ? room.waiting_room_enabled === 1 : true}
      />
      <TextAreaField
        name="waiting_room_message"
        label="Message to waiting guests"
        rows={2}
        maxLength={1000}
        defaultValue={room?.waiting_room_message ?? ''}
      />
      <CheckboxField
        name="members_only"
        label="Only members of the workspace can join"
        hint="Guests who are in the room can stay."
        defaultChecked={room?.members_only === 1}
      />
      <TextField
        name="max_participants"
        label="How many people fit"
        type="number"
        min={1}
        max={1000}
        hint="Empty: no limit. Nobody has to leave when you lower it."
        defaultValue={room?.max_participants ?? ''}
      />
      <SelectField
        name="who_may_record"
        label="Who can record"
        defaultValue={room?.who_may_record}
        options={recorderOptions}
      />
      <SelectField
        name="recordings_visible_to"
        label="Recordings"
        defaultValue={room?.recordings_visible_to}
        options={viewerOptions}
      />
      <CheckboxField
        name="chat_enabled"
        label="People can chat in the meeting"
        defaultChecked={room ? room.chat_enabled === 1 : true}
      />
      <FieldGroup name="relay_only" label="Connections between browsers">
        <CheckboxField
          name="relay_only"
          label="Hide network addresses from the others"
          hint="Sound and pictures then always pass through your TURN server."
          defaultChecked={room?.relay_only === 1}
        />
        <CheckboxField
          name="media"
          label="Meet on this page even if a meeting provider is connected"
          defaultChecked={room?.media === 'mesh'}
        />
      </FieldGroup>
      <Field name="accent_color" label="Color">
        {(control) => (
          <input
            type="color"
            {...control}
            value={look.color}
            onChange={({ target }) => setLook({ ...look, color: target.value })}
            className="h-10 w-16 rounded-lg border border-control-line bg-raised p-1"
          />
        )}
      </Field>
      <figure aria-label="Preview" className="flex items-center gap-2 rounded-lg border border-line p-3">
        <span aria-hidden className="size-4 shrink-0 rounded-full" style={{ background: look.color }} />
        <span>{look.name.trim() || room?.name || 'Title of the room'}</span>
      </figure>
      <DialogActions>
        <Button type="submit" tone="primary" isPending={isPending}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}
