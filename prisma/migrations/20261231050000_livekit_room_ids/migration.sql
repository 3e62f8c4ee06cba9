-- The room of a request: on the server of the operator, rooms are named by their ID too. Null for what a process of the
-- release before has added.
ALTER TABLE "livekit_requests" ADD COLUMN     "room_id" INTEGER;
