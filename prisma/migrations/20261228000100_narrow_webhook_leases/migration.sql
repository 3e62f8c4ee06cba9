-- The lease of an attempt gets a row of its own. As a column of the message, it made PostgreSQL write the message, with
-- its payload and its entries in seven indexes, once more for each attempt.
DROP INDEX "webhook_messages_leased";
ALTER TABLE "webhook_messages" DROP COLUMN "leased_until";

CREATE TABLE "webhook_leases" (
    "job_id" UUID NOT NULL,
    "workspace_id" INTEGER NOT NULL,
    "webhook_id" INTEGER NOT NULL,
    "queue_rank" INTEGER NOT NULL,
    "leased_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_leases_pkey" PRIMARY KEY ("job_id")
);

-- CreateIndex
CREATE INDEX "webhook_leases_queue_rank_workspace_id_webhook_id_idx" ON "webhook_leases"("queue_rank", "workspace_id", "webhook_id");

-- Beyond Prisma ---------------------------------------------------------------------------------------------------------

-- As in 20261227000200_webhook_leases, without the column that is gone.
CREATE OR REPLACE FUNCTION "take_pgboss_jobs"("max" int) RETURNS int LANGUAGE plpgsql AS $$
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
      SET job_id = n.id, queued_job_id = n.id, queue_rank = -d.priority, due_at = d.start_after
      FROM deleted d CROSS JOIN LATERAL (SELECT gen_random_uuid() AS id, d.id AS old) n
      WHERE m.workspace_id = (d.data->>'workspaceId')::int AND m.id = d.data->>'messageId' AND m.job_id = d.id
        AND m.status = 'waiting')
    SELECT count(*)::int FROM deleted $sql$ INTO taken USING "max";
  RETURN taken;
END $$;
