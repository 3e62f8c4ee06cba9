/** The events as receivers get them, for those who write receivers. */
import { z } from 'zod';
import { eventTexts, type SentEvent, sentEvents, sentShapes } from './catalogue.ts';

export type EventDescription = {
  name: SentEvent;
  description: string;
  /** JSON Schema, draft 2020-12, of the whole body: `{event, timestamp, data}`. */
  schema: Record<string, unknown>;
  example: { event: SentEvent; timestamp: string; data: Record<string, unknown> };
};

/** All of them, in the order of the catalogue; `webhook.test` last. */
export const describedEvents: readonly EventDescription[] = sentEvents.map(describeEvent);

/** `example` is a word of OpenAPI; JSON Schema has `examples`. */
function renameExample({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (!('example' in jsonSchema)) return;
  jsonSchema.examples = [jsonSchema.example];
  delete jsonSchema.example;
}

function describeEvent(name: SentEvent): EventDescription {
  const body = z.object({
    event: z.literal(name),
    timestamp: z.string().describe('When it happened, ISO 8601 in UTC').meta({ format: 'date-time' }),
    data: sentShapes[name],
  });
  const { description, example } = eventTexts[name];
  return {
    name,
    description,
    // As input: bodies may grow, and what is written would forbid unknown fields.
    schema: { ...z.toJSONSchema(body, { target: 'draft-2020-12', io: 'input', override: renameExample }) },
    example: { event: name, timestamp: '2026-01-01T00:00:00.000Z', data: example },
  };
}
