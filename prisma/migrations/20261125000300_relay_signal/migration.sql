-- A NOTIFY in the transaction that adds an event takes a lock of the whole cluster until the commit is on disk. Servers
-- send it after the commit instead, at most every 50 ms (src/db/event-signal.ts).

DROP TRIGGER "events_added" ON "events";
DROP FUNCTION "wake_relay"();
