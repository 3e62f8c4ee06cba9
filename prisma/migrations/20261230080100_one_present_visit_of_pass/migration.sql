-- lynxroom: no transaction
-- The holder of a pass is present once, in however many pages.
CREATE UNIQUE INDEX CONCURRENTLY "participants_one_present_of_pass" ON "participants" ("workspace_id", "pass_id")
  WHERE "pass_id" IS NOT NULL AND "status" IN ('waiting', 'joined');
