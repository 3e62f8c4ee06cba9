/** A collector of OpenTelemetry traces, which receives OTLP as JSON. */
import { type Receiver, respond, startReceiver } from '../support/receiver.ts';

export type ReceivedSpan = {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: Record<string, unknown>;
  hasFailed: boolean;
};

export type Collector = {
  /** The environment that makes the SDK send its spans here. */
  env: Record<string, string>;
  /** The spans so far. */
  spans(): ReceivedSpan[];
  close(): Promise<void>;
};

type OtlpValue = { stringValue?: string; intValue?: number | string; boolValue?: boolean };
type OtlpAttribute = { key: string; value: OtlpValue };
type OtlpSpan = Omit<ReceivedSpan, 'attributes' | 'service' | 'hasFailed'> & {
  attributes: OtlpAttribute[];
  status?: { code?: number };
};
type OtlpBody = {
  resourceSpans: { resource: { attributes: OtlpAttribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
};

const ERROR = 2;

export async function startCollector(): Promise<Collector> {
  const receiver = await startReceiver(respond(200, '{}', { 'content-type': 'application/json' }));
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '200',
    },
    spans: () => readSpans(receiver),
    close: receiver.close,
  };
}

function readSpans({ requests }: Receiver): ReceivedSpan[] {
  const traces = requests.filter(({ target }) => target === '/v1/traces');
  return traces.flatMap(({ body }) => {
    // The SDK sends this format: https://opentelemetry.io/docs/specs/otlp/
    const { resourceSpans } = JSON.parse(body.toString()) as OtlpBody;
    return resourceSpans.flatMap(({ resource, scopeSpans }) => {
      const service = String(toRecord(resource.attributes)['service.name']);
      return scopeSpans.flatMap(({ spans }) =>
        spans.map(({ attributes, status, ...span }) => ({
          ...span,
          service,
          attributes: toRecord(attributes),
          hasFailed: status?.code === ERROR,
        })),
      );
    });
  });
}

function toRecord(attributes: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
