-- Storing a file may take long: other workers do it than those that call the server.
ALTER TABLE "livekit_egresses" ADD COLUMN     "step" TEXT NOT NULL DEFAULT 'call';
ALTER TABLE "livekit_egresses" ADD CONSTRAINT "livekit_egresses_step_check" CHECK ("step" IN ('call', 'store'));
