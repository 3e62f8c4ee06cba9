import { openEventStream } from '../features/events/open-event-stream.ts';
import { type LiveEvent, LiveInput, readLastEventId, StreamQuery, toSequence } from '../features/events/schemas.ts';
import { createLiveReader } from '../trpc/live-reader.ts';
import { inWorkspace, router } from '../trpc/procedures.ts';
import { liveReader, rawOperation, WorkspaceParams } from '../trpc/raw-operation.ts';
import { toTrackedSubscription } from '../trpc/subscription.ts';

export const eventsRouter = router({
  live: inWorkspace('member')
    .input(LiveInput)
    .subscription(({ ctx, input, path }) => {
      const reader = createLiveReader(ctx, path, ctx.actor);
      const after = toSequence(input.lastEventId);
      return toTrackedSubscription<LiveEvent>(openEventStream(ctx.services, reader, after));
    }),
});

export const eventsStream = rawOperation({
  name: 'events.stream',
  method: 'GET',
  path: '/api/workspaces/{id}/events/stream',
  params: WorkspaceParams,
  query: StreamQuery,
  headers: {
    'Last-Event-ID':
      'The `id` of the last event that the client received. The stream continues after it. `0` means the beginning ' +
      'of the log',
  },
  tags: ['Live updates'],
  summary: 'Stream the events of a workspace',
  description:
    'Any member. Sends events as they happen, as Server-Sent Events: `id` is the value for `Last-Event-ID`, `event` ' +
    'is the type, and `data` is the same JSON body that a webhook receives. Members receive only events about things ' +
    'that they are allowed to read. Events about the participants and recordings of a room go to the user to whom ' +
    'the room belongs, and to the owner and admins. Without `Last-Event-ID`, the first event is `stream.opened`; ' +
    'with it, the stream continues with the next event. `stream.reset` means that events are missing, because the ' +
    'log no longer contains them. The stream ends with `stream.closed` when the caller loses access.',
  access: liveReader('member'),
  request: { kind: 'none' },
  response: { kind: 'events', description: 'The events, until the caller or the service ends the stream' },
  refusals: [400],
  async handle({ services, caller, headers, query }) {
    const after = toSequence(readLastEventId(headers) ?? query.last_event_id);
    return openEventStream(services, caller, after);
  },
});
