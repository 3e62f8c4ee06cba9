import type { Outputs } from '@lynxroom/client';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { CheckboxField, Field, Form, TextAreaField, TextField } from '../../../../components/Form.tsx';
import { toLocalInput } from '../../../../lib/format.ts';

type Room = Outputs['rooms']['read']['room'];

export type RoomValues = {
  name?: string;
  display_name: string | null;
  scheduled_at: number | null;
  accent_color: string;
  waiting_room_enabled: 0 | 1;
  waiting_room_message: string | null;
};

const DEFAULT_COLOR = '#6366f1';

type RoomFormProps = {
  /** The room to change. Without one, the form is for a new room, which can be given a name. */
  room?: Room;
  action: string;
  error: unknown;
  isPending: boolean;
  onSubmit: (values: RoomValues) => void;
};

/** The name, schedule, branding and waiting room of a room. */
export function RoomForm({ room, action, error, isPending, onSubmit }: RoomFormProps) {
  const [look, setLook] = useState({ name: room?.display_name ?? '', color: room?.accent_color ?? DEFAULT_COLOR });

  function submit(values: FormData): void {
    const text = (name: string): string => String(values.get(name) ?? '').trim();
    const scheduled = text('scheduled_at');
    onSubmit({
      ...(text('name') !== '' && { name: text('name') }),
      display_name: text('display_name') || null,
      scheduled_at: scheduled === '' ? null : Math.floor(new Date(scheduled).getTime() / 1000),
      accent_color: text('accent_color'),
      waiting_room_enabled: values.has('waiting_room_enabled') ? 1 : 0,
      waiting_room_message: text('waiting_room_message') || null,
    });
  }

  return (
    <Form onSubmit={submit} error={error}>
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
        defaultChecked={room ? room.waiting_room_enabled === 1 : true}
      />
      <TextAreaField
        name="waiting_room_message"
        label="Message to waiting guests"
        rows={2}
        maxLength={1000}
        defaultValue={room?.waiting_room_message ?? ''}
      />
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

/** The link that guests open. */
export function toRoomUrl(name: string): string {
  return `${location.origin}/room/${name}`;
}
