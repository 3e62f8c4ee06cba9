-- The trace of an event goes on with its messages: see src/core/tracing.ts. Both columns stay null unless a process has
-- traces. Adding a nullable column rewrites no rows.
ALTER TABLE "events" ADD COLUMN     "traceparent" TEXT;
ALTER TABLE "webhook_messages" ADD COLUMN     "traceparent" TEXT;
