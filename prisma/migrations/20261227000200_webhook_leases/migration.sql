-- The queue of webhook attempts moves from pg-boss to the rows of the messages. All columns are null until a message is
-- queued, so processes of the previous version can go on inserting and updating messages.
ALTER TABLE "webhook_messages" ADD COLUMN     "due_at" TIMESTAMPTZ(3),
ADD COLUMN     "leased_until" TIMESTAMPTZ(3),
ADD COLUMN     "queue_rank" INTEGER,
ADD COLUMN     "queued_job_id" UUID;

-- Beyond Prisma: what waits in pg-boss ----------------------------------------------------------------------------------

-- Takes what waits in the queue of pg-boss, and returns how much. A job is deleted and its message queued in one
-- transaction. A process of the previous version that is leasing the job has locked it, so the job is skipped; one that
-- leases it later finds no job, and one that has leased it keeps it until its lease has expired.
CREATE FUNCTION "take_pgboss_jobs"("max" int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  taken int;
BEGIN
  IF to_regclass('pgboss.job') IS NULL THEN
    RETURN 0;
  END IF;
  EXECUTE $sql$
    WITH jobs AS (
      SELECT id FROM pgboss.job
      WHERE name = 'webhooks.deliver' AND (state < 'active' OR state = 'active'
        AND coalesce(heartbeat_on, started_on) + interval '30 s' < now())
      LIMIT $1 FOR UPDATE SKIP LOCKED),
    deleted AS (
      DELETE FROM pgboss.job j USING jobs WHERE j.name = 'webhooks.deliver' AND j.id = jobs.id
      RETURNING j.id, j.data, j.priority, j.start_after),
    queued AS (
      UPDATE public.webhook_messages m
      SET job_id = n.id, queued_job_id = n.id, queue_rank = -d.priority, due_at = d.start_after, leased_until = NULL
      FROM deleted d CROSS JOIN LATERAL (SELECT gen_random_uuid() AS id, d.id AS old) n
      WHERE m.workspace_id = (d.data->>'workspaceId')::int AND m.id = d.data->>'messageId' AND m.job_id = d.id
        AND m.status = 'waiting')
    SELECT count(*)::int FROM deleted $sql$ INTO taken USING "max";
  RETURN taken;
END $$;
