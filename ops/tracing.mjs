// Loads the OpenTelemetry SDK, which reads the standard OTEL_* variables. Run the service with it:
// node --import ./ops/tracing.mjs src/server.ts
import { NodeSDK } from '@opentelemetry/sdk-node';

// Only traces use OpenTelemetry: metrics are for Prometheus, and logs go to standard output.
process.env.OTEL_METRICS_EXPORTER ??= 'none';
process.env.OTEL_LOGS_EXPORTER ??= 'none';
process.env.OTEL_SERVICE_NAME ??= 'lynxroom';

new NodeSDK().start();
