/**
 * Tracing with OpenTelemetry. The service depends only on the OpenTelemetry API. An operator who wants traces loads an
 * SDK before the service, with `--import` (docs/monitoring.md). Without an SDK, the functions here do nothing.
 */
import type {
  Attributes,
  Context,
  ProxyTracerProvider,
  Span,
  SpanKind,
  Tracer,
  TracerProvider,
} from '@opentelemetry/api';
import { inTime } from './in-time.ts';

type Api = typeof import('@opentelemetry/api');

export type SpanOptions = {
  kind?: 'server' | 'client' | 'producer';
  attributes?: Attributes;
  /**
   * The traceparent of the cause, or the request headers that may contain it; null if there is no cause. Default: the
   * span in progress.
   */
  parent?: string | null | Readonly<Record<string, unknown>>;
};

/** The properties of a span that are known only when it ends. */
export type SpanEnd = { attributes?: Attributes; hasFailed?: boolean };

export type StartedSpan = {
  traceId: string;
  /**
   * The value for a `traceparent` header (https://www.w3.org/TR/trace-context/) that makes another span a child of this
   * one.
   */
  traceparent: string;
  /** Runs work whose spans are children of this one. */
  run<Result>(work: () => Result): Result;
  /** Only the first call has an effect. */
  end(end?: SpanEnd): void;
};

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** How long an unresponsive collector may delay the exit of the process. */
const FLUSH_TIMEOUT_MS = 5_000;

/** Where an SDK, which may have its own copy of the API, registers itself for all copies. */
const SDK = Symbol.for('opentelemetry.js.api.1');

// Loading the API takes 15 ms, so it is loaded only if an SDK has registered itself.
const tracing = SDK in globalThis ? findTracer(await import('@opentelemetry/api')) : null;

/** Whether an SDK is loaded. This does not change while the process runs. */
export const isTracing = tracing !== null;

/** Runs work in a span. If the work succeeds, `describe` returns the properties with which the span ends. */
export function withSpan<Result>(
  name: string,
  options: SpanOptions,
  work: () => Promise<Result>,
  describe: (result: Result) => SpanEnd = () => ({}),
): Promise<Result> {
  const span = startSpan(name, options);
  return span === null ? work() : runIn(span, work, describe);
}

async function runIn<Result>(
  span: StartedSpan,
  work: () => Promise<Result>,
  describe: (result: Result) => SpanEnd,
): Promise<Result> {
  try {
    const result = await span.run(work);
    span.end(describe(result));
    return result;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
}

/**
 * Returns the properties of a span that ends with an error. Only the name of the error is recorded, because the message
 * may contain data from the caller.
 */
export function failureOf(error: unknown): SpanEnd {
  return { attributes: { 'error.type': error instanceof Error ? error.name : typeof error }, hasFailed: true };
}

/** Returns null if no SDK is loaded. */
export function startSpan(name: string, { kind, attributes, parent }: SpanOptions = {}): StartedSpan | null {
  if (tracing === null) return null;
  const { api, tracer } = tracing;
  const { context, SpanStatusCode, trace } = api;
  const options = { ...(kind && { kind: toSpanKind(api, kind) }), ...(attributes && { attributes }) };
  const span = tracer.startSpan(name, options, toContext(api, parent));
  const within = trace.setSpan(context.active(), span);
  let hasEnded = false;
  return {
    traceId: span.spanContext().traceId,
    traceparent: toTraceparent(span),
    run: (work) => context.with(within, work),
    end({ attributes: more = {}, hasFailed = false } = {}) {
      if (hasEnded) return;
      hasEnded = true;
      span.setAttributes(more);
      if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Starts a child of the span in progress. Returns null if no span is in progress. */
export function startChildSpan(name: string, options: Omit<SpanOptions, 'parent'>): StartedSpan | null {
  return tracing?.api.trace.getActiveSpan() === undefined ? null : startSpan(name, options);
}

function toSpanKind({ SpanKind }: Api, kind: 'server' | 'client' | 'producer'): SpanKind {
  return { server: SpanKind.SERVER, client: SpanKind.CLIENT, producer: SpanKind.PRODUCER }[kind];
}

function toContext({ context, propagation, ROOT_CONTEXT, trace }: Api, parent: SpanOptions['parent']): Context {
  if (parent === undefined) return context.active();
  if (parent !== null && typeof parent === 'object') return propagation.extract(ROOT_CONTEXT, parent);
  const [, traceId, spanId, flags = ''] = TRACEPARENT.exec(parent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function toTraceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The traceparent of the span in progress; null if there is none. */
export function currentTraceparent(): string | null {
  const span = tracing?.api.trace.getActiveSpan();
  return span !== undefined && tracing?.api.isSpanContextValid(span.spanContext()) ? toTraceparent(span) : null;
}

/** The id of the trace in progress; null if there is none. */
export function currentTraceId(): string | null {
  return tracing?.api.trace.getActiveSpan()?.spanContext().traceId || null;
}

/**
 * The headers that pass the span in progress on to another service. The setting OTEL_PROPAGATORS of the SDK selects
 * them.
 */
export function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  if (tracing !== null) tracing.api.propagation.inject(tracing.api.context.active(), headers);
  return headers;
}

/** Runs work that does not belong to the span in progress. */
export function outsideTrace<Result>(work: () => Result): Result {
  return tracing === null ? work() : tracing.api.context.with(tracing.api.ROOT_CONTEXT, work);
}

/** Sends the spans that have ended. Call it before the process exits. Never rejects: the SDK reports its failures. */
export async function flushTraces(): Promise<void> {
  // `as`: the providers of SDKs have this method, but the type of the API does not declare it.
  const provider = (tracing && providerOfSdk(tracing.api)) as
    | (TracerProvider & { forceFlush?(): Promise<void> })
    | null;
  const flushing = provider?.forceFlush?.().catch(() => {});
  if (flushing) await inTime(flushing, FLUSH_TIMEOUT_MS, null);
}

function findTracer(api: Api): { api: Api; tracer: Tracer } | null {
  const tracer = providerOfSdk(api)?.getTracer('lynxroom');
  return tracer === undefined ? null : { api, tracer };
}

/**
 * Returns the provider of the SDK, or null without one. The provider of the API is a proxy that delegates to the
 * provider of the SDK.
 */
function providerOfSdk({ trace }: Api): TracerProvider | null {
  const provider = trace.getTracerProvider();
  if (!isProxy(provider)) return provider;
  return provider.getDelegateTracer('lynxroom') === undefined ? null : provider.getDelegate();
}

/** The SDK may include its own copy of the API, whose proxy has a different class. */
function isProxy(provider: TracerProvider): provider is ProxyTracerProvider {
  return 'getDelegate' in provider && 'getDelegateTracer' in provider;
}
