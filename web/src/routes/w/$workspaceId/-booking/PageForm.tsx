/** The settings of a booking page. */
import type { Inputs } from '@lynxroom/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { Combobox } from '../../../../components/Combobox.tsx';
import { CheckboxField, Form, SelectField, TextAreaField, TextField } from '../../../../components/Form.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { timeZones } from '../../../../lib/format.ts';
import { showSuccess } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { DaysOff } from './DaysOff.tsx';
import { HoursEditor } from './HoursEditor.tsx';
import { type BookingPage, days, findProblem, toHours, toWeek } from './hours.ts';
import { toOptions } from './minutes.ts';

type Update = Omit<Inputs['bookingPages']['update'], 'id' | 'pageId'>;

const HOUR = 60;
const DAY = 24 * HOUR;
const usualNotice = [HOUR, 2 * HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY];
const usualReminders = [15, HOUR, 2 * HOUR, DAY, 2 * DAY, 7 * DAY];

export function PageForm({ page }: { page: BookingPage }) {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [week, setWeek] = useState(() => toWeek(page.hours));
  const [timeZone, setTimeZone] = useState(page.time_zone);
  const [daysOff, setDaysOff] = useState<readonly string[]>(page.days_off);
  const [isRefused, setIsRefused] = useState(false);
  const update = useMutation(
    trpc.bookingPages.update.mutationOptions({
      async onSuccess() {
        await Promise.all([
          queryClient.invalidateQueries(trpc.bookingPages.pathFilter()),
          queryClient.invalidateQueries(trpc.bookings.times.pathFilter()),
        ]);
        showSuccess('Saved');
      },
    }),
  );
  const hasProblem = days.some(({ day }) => findProblem(week[day]) !== null);

  function submit(values: FormData): void {
    setIsRefused(hasProblem);
    if (hasProblem) return;
    const schedule = { time_zone: timeZone, hours: toHours(week), days_off: [...daysOff] };
    update.mutate({ id, pageId: page.id, ...readFields(values), ...schedule });
  }

  return (
    <Form onSubmit={submit} error={update.error} className="min-w-0">
      <UnsavedChanges save={update} values={[week, timeZone, daysOff]} />
      <TextField name="title" label="Title" required maxLength={100} defaultValue={page.title} />
      <TextAreaField
        name="description"
        label="Description"
        hint="What guests read before they choose a time"
        maxLength={1000}
        defaultValue={page.description ?? ''}
      />
      <TextField
        name="slug"
        label="Name in the link"
        required
        maxLength={64}
        hint="Lower-case letters, digits and hyphens. If you change it, the old link stops working."
        defaultValue={page.slug}
      />
      <Minutes name="duration_minutes" label="Length in minutes" min={5} max={480} value={page.duration_minutes} />
      <Combobox
        label="Time zone of the page"
        options={timeZones}
        value={timeZone}
        onChange={(zone) => zone !== null && setTimeZone(zone)}
      />
      <HoursEditor week={week} onChange={setWeek} />
      <DaysOff dates={daysOff} onChange={setDaysOff} />
      <SelectField
        name="minimum_notice_minutes"
        label="Notice"
        hint="How long before its start a meeting must be booked"
        defaultValue={String(page.minimum_notice_minutes)}
        options={[{ value: '0', label: 'None' }, ...toOptions(usualNotice, page.minimum_notice_minutes)]}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <Minutes
          name="buffer_before_minutes"
          label="Minutes free before"
          max={240}
          value={page.buffer_before_minutes}
        />
        <Minutes name="buffer_after_minutes" label="Minutes free after" max={240} value={page.buffer_after_minutes} />
      </div>
      <TextField
        name="max_per_day"
        label="Meetings per day"
        type="number"
        min={1}
        max={288}
        hint="Leave empty for any number"
        defaultValue={page.max_per_day ?? ''}
      />
      <SelectField
        name="reminder_minutes"
        label="Reminder by mail"
        hint="How long before the meeting the guest and the host get it"
        defaultValue={String(page.reminder_minutes ?? '')}
        options={[{ value: '', label: 'Never' }, ...toOptions(usualReminders, page.reminder_minutes)]}
      />
      <CheckboxField
        name="confirm_email"
        label="Guests confirm by mail"
        hint="A booking takes effect only when its guest opens a link that they get by mail, within 30 minutes."
        defaultChecked={page.confirm_email}
      />
      <CheckboxField name="notify_host" label="The host gets mail about bookings" defaultChecked={page.notify_host} />
      {isRefused && hasProblem && (
        <p role="alert" className="text-danger-text">
          Correct the opening hours first.
        </p>
      )}
      <p>
        <Button type="submit" tone="primary" isPending={update.isPending}>
          Save
        </Button>
      </p>
    </Form>
  );
}

type MinutesProps = { name: string; label: string; min?: number; max: number; value: number };

function Minutes({ value, min = 0, ...rest }: MinutesProps) {
  return <TextField {...rest} type="number" required min={min} defaultValue={value} />;
}

function readFields(values: FormData): Update {
  const text = (name: string): string => String(values.get(name) ?? '').trim();
  const number = (name: string): number => Number(text(name));
  const numberOrNull = (name: string): number | null => (text(name) === '' ? null : number(name));
  return {
    title: text('title'),
    description: text('description') || null,
    slug: text('slug'),
    duration_minutes: number('duration_minutes'),
    minimum_notice_minutes: number('minimum_notice_minutes'),
    buffer_before_minutes: number('buffer_before_minutes'),
    buffer_after_minutes: number('buffer_after_minutes'),
    max_per_day: numberOrNull('max_per_day'),
    reminder_minutes: numberOrNull('reminder_minutes'),
    confirm_email: values.has('confirm_email'),
    notify_host: values.has('notify_host'),
  };
}
