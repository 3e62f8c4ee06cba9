/** Descriptions of the events, for developers of receivers. */
import { z } from 'zod';
import { type SentType, sentEvents, sentTypes } from './catalogue.ts';

export type EventDescription = {
  name: SentType;
  description: string;
  /** The JSON Schema (draft 2020-12) of the whole body: `{event, timestamp, data}`. */
  schema: Record<string, unknown>;
  example: { event: SentType; timestamp: string; data: Record<string, unknown> };
};

/** All events, in the order of the catalogue; `webhook.test` is last. */
export const describedEvents: readonly EventDescription[] = sentTypes.map(describeEvent);

/** OpenAPI uses `example`; JSON Schema uses `examples`. */
function renameExample({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (!('example' in jsonSchema)) return;
  jsonSchema.examples = [jsonSchema.example];
  delete jsonSchema.example;
}

function describeEvent(name: SentType): EventDescription {
  const { data, description, example } = sentEvents[name];
  const body = z.object({
    event: z.literal(name),
    timestamp: z.string().describe('When the event happened, ISO 8601 in UTC').meta({ format: 'date-time' }),
    data,
  });
  return {
    name,
    description,
    // Uses the input schema. The output schema would forbid unknown fields, but later versions may add fields to
    // bodies.
    schema: { ...z.toJSONSchema(body, { target: 'draft-2020-12', io: 'input', override: renameExample }) },
    example: { event: name, timestamp: '2026-01-01T00:00:00.000Z', data: example },
  };
}
