import type { Outputs } from '@lynxroom/client';
import { useQuery } from '@tanstack/react-query';
import { type Ref, useRef, useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { DialogActions } from '../../../../components/Dialog.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Form, TextField } from '../../../../components/Form.tsx';
import { SkeletonRows } from '../../../../components/Skeleton.tsx';
import { UnsavedChanges } from '../../../../components/UnsavedChanges.tsx';
import { trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { CodeBlock } from './CodeBlock.tsx';
import { type EventName, toEvents, type Webhook } from './webhooks.ts';

export type WebhookValues = { name: string; url: string; events: EventName[] };

type WebhookFormProps = {
  /** The webhook to edit. Without it, the form is for a new one. */
  webhook?: Webhook;
  action: string;
  error: unknown;
  isPending: boolean;
  onSubmit: (values: WebhookValues) => void;
};

/** The name, the URL and the events of a webhook. */
export function WebhookForm({ webhook, action, error, isPending, onSubmit }: WebhookFormProps) {
  const [events, setEvents] = useState<readonly EventName[]>(webhook ? toEvents(webhook) : []);
  const [isWithoutEvents, setIsWithoutEvents] = useState(false);
  const fieldset = useRef<HTMLFieldSetElement>(null);

  function submit(values: FormData): void {
    setIsWithoutEvents(events.length === 0);
    if (events.length === 0) {
      // The message is above a list that is longer than the screen.
      fieldset.current?.focus();
      return;
    }
    onSubmit({ name: String(values.get('name')), url: String(values.get('url')), events: [...events] });
  }

  return (
    <Form onSubmit={submit} error={error}>
      <UnsavedChanges save={{ isPending }} values={events} />
      <TextField name="name" label="Name" required maxLength={100} defaultValue={webhook?.name} />
      <TextField
        name="url"
        label="URL"
        hint="Events are posted to it. It must be public; a server in development also takes this machine."
        required
        maxLength={2048}
        inputMode="url"
        autoComplete="off"
        placeholder="https://example.com/hooks/lynxroom"
        defaultValue={webhook?.url}
      />
      <EventPicker
        ref={fieldset}
        chosen={events}
        onChange={setEvents}
        isMissing={isWithoutEvents && events.length === 0}
      />
      <DialogActions>
        <Button type="submit" tone="primary" isPending={isPending}>
          {action}
        </Button>
      </DialogActions>
    </Form>
  );
}

type Described = Outputs['webhooks']['catalogue']['events'][number];
type EventPickerProps = {
  ref: Ref<HTMLFieldSetElement>;
  chosen: readonly EventName[];
  onChange: (events: EventName[]) => void;
  /** Whether the form was submitted without an event. */
  isMissing: boolean;
};

/** The events of the catalogue, each with what it means and an example of its body. */
function EventPicker({ ref, chosen, onChange, isMissing }: EventPickerProps) {
  const id = useWorkspaceId();
  const catalogue = useQuery({ ...trpc.webhooks.catalogue.queryOptions({ id }), staleTime: Number.POSITIVE_INFINITY });
  if (catalogue.isPending) return <SkeletonRows />;
  if (catalogue.isError) {
    return (
      <ErrorPanel what="The events could not be loaded" error={catalogue.error} onRetry={() => catalogue.refetch()} />
    );
  }
  const events = catalogue.data.events.filter(isSubscribable);
  const areAllChosen = events.every(({ name }) => chosen.includes(name));
  return (
    <fieldset
      ref={ref}
      tabIndex={-1}
      className="m-0 border-0 p-0 outline-none"
      aria-describedby={isMissing ? 'events-error' : undefined}
    >
      <legend className="mb-1 p-0 font-medium">Events</legend>
      <div className="mb-2 flex flex-wrap items-center justify-between gap-2">
        <p className="text-sm text-muted">
          {chosen.length} of {events.length} chosen
        </p>
        <Button size="small" onClick={() => onChange(areAllChosen ? [] : events.map(({ name }) => name))}>
          {areAllChosen ? 'Choose none' : 'Choose all'}
        </Button>
      </div>
      {isMissing && (
        <p id="events-error" role="alert" className="mb-2 text-sm text-danger-text">
          Choose at least one event
        </p>
      )}
      <ul className="m-0 flex list-none flex-col divide-y divide-line rounded-lg border border-line p-0">
        {events.map((event) => (
          <li key={event.name} className="px-3 py-2">
            <label className="flex items-start gap-2">
              <input
                type="checkbox"
                // Not `events`: what the service says about the list is then shown above the form.
                name="event"
                className="mt-1 size-4 shrink-0 accent-accent"
                checked={chosen.includes(event.name)}
                onChange={({ target }) =>
                  onChange(target.checked ? [...chosen, event.name] : chosen.filter((name) => name !== event.name))
                }
              />
              <span>
                <code className="font-mono">{event.name}</code>
                <span className="block text-sm text-muted">{event.description}</span>
              </span>
            </label>
            <details className="mt-1 ml-6 text-sm">
              <summary className="text-muted">
                Example<span className="sr-only"> of {event.name}</span>
              </summary>
              <div className="mt-1">
                <CodeBlock label={`Example of ${event.name}`} text={JSON.stringify(event.example, null, 2)} />
              </div>
            </details>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

/** A test is sent whatever a webhook subscribes to. */
function isSubscribable(event: Described): event is Described & { name: EventName } {
  return event.name !== 'webhook.test';
}
