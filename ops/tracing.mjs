// Loads the OpenTelemetry SDK, which reads the standard OTEL_* variables. Run the service with it:
// node --import ./ops/tracing.mjs src/server.ts
import { NodeSDK } from '@opentelemetry/sdk-node';

// The service has traces only. Its metrics are for Prometheus, its logs go to standard output.
process.env.OTEL_METRICS_EXPORTER ??= 'none';
process.env.OTEL_LOGS_EXPORTER ??= 'none';
process.env.OTEL_SERVICE_NAME ??= 'lynxroom';

new NodeSDK().start();
