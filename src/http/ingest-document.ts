/** The way in of meeting providers in the OpenAPI document: no procedure describes it, since signatures are of bytes. */
import { z } from 'zod';
import { GenericEvent } from '../features/meeting-providers/adapters/generic.ts';

export const INGEST_PATH = '/api/ingest/{connectionId}';

/** A scheme, because OpenAPI ignores a parameter of the name Authorization; apiKey, because LiveKit sends no `Bearer`. */
export const meetingProviderScheme = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description:
    'The JWT that a meeting provider signs its callback with: after `Bearer` for vonage, alone for livekit. For nothing but callbacks',
} as const;

export function ingestOperation(refusals: object) {
  return {
    operationId: 'ingestCallback',
    tags: ['Meeting providers'],
    summary: 'Receive a callback of a meeting provider',
    description:
      'For meeting providers. A body of any content type and of at most 1 MiB, signed as the provider of the connection signs: what it must look like for `generic` is shown here. 200 says that it is stored, also for one that was sent before, which changes nothing. A signature that is missing, wrong or too old is refused with 401, and counts against the network address. 503 with `Retry-After` (seconds): too many callbacks of the workspace wait already; nothing is stored.',
    // generic signs by the headers below.
    security: [{}, { meetingProvider: [] }],
    parameters: [
      {
        in: 'path',
        name: 'connectionId',
        required: true,
        description: 'The last part of the `ingest_url` of a connection',
        schema: { type: 'string' },
      },
      ...['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
        in: 'header',
        name,
        required: false,
        description: 'Needed for generic, as Standard Webhooks signs; vonage and livekit send `Authorization`',
        schema: { type: 'string' },
      })),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: genericEvent() } } },
    responses: {
      200: {
        description: 'It is stored',
        content: {
          'application/json': {
            schema: { type: 'object', required: ['ok'], properties: { ok: { type: 'boolean', const: true } } },
          },
        },
      },
      ...refusals,
    },
  };
}

/** Taken out of `$defs`, to which nothing in a document of ours could refer. */
function genericEvent(): object {
  const { $defs, ...schema } = z.toJSONSchema(GenericEvent, { target: 'draft-2020-12', io: 'input' });
  return $defs?.MeetingProviderEvent ?? schema;
}
