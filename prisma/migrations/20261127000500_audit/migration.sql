-- The audit log of a workspace, and the log of an account (docs/decisions/0036-audit-log.md). The first part is drafted
-- from prisma/schema.prisma; what Prisma cannot express follows below it.

-- CreateTable
CREATE TABLE "audit_log" (
    "workspace_id" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "sequence" BIGINT,
    "hash" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "actor_kind" TEXT NOT NULL,
    "actor_user_id" INTEGER,
    "actor_key_id" INTEGER,
    "actor_connection_id" INTEGER,
    "action" TEXT NOT NULL,
    "target_kind" TEXT NOT NULL,
    "target_id" INTEGER,
    "actor_details" TEXT,
    "actor_salt" BYTEA,
    "actor_hash" BYTEA NOT NULL,
    "details" TEXT,
    "details_salt" BYTEA,
    "details_hash" BYTEA NOT NULL,

    CONSTRAINT "audit_log_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "audit_chains" (
    "workspace_id" INTEGER NOT NULL,
    "last_sequence" BIGINT NOT NULL,
    "last_hash" BYTEA NOT NULL,
    "cut_sequence" BIGINT NOT NULL DEFAULT 0,
    "cut_hash" BYTEA NOT NULL,
    "sealed" BYTEA NOT NULL,

    CONSTRAINT "audit_chains_pkey" PRIMARY KEY ("workspace_id")
);

-- CreateTable
CREATE TABLE "account_events" (
    "id" BIGSERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "action" TEXT NOT NULL,
    "address" TEXT,
    "user_agent" TEXT,
    "details" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "hour" TIMESTAMPTZ(3),
    "count" INTEGER NOT NULL DEFAULT 1,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_events_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "audit_log_workspace_id_created_at_id_idx" ON "audit_log"("workspace_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "audit_log_workspace_id_sequence_key" ON "audit_log"("workspace_id", "sequence");

-- CreateIndex
CREATE INDEX "account_events_user_id_created_at_id_idx" ON "account_events"("user_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "account_events_created_at_idx" ON "account_events"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "account_events_user_id_action_hour_key" ON "account_events"("user_id", "action", "hour");

-- AddForeignKey
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "audit_chains" ADD CONSTRAINT "audit_chains_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "account_events" ADD CONSTRAINT "account_events_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma ------------------------------------------------------------------------------------------------------

ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_actor_check" CHECK (CASE "actor_kind"
  WHEN 'user' THEN "actor_user_id" IS NOT NULL AND "actor_key_id" IS NULL AND "actor_connection_id" IS NULL
  WHEN 'key' THEN "actor_key_id" IS NOT NULL AND "actor_connection_id" IS NULL
  WHEN 'provider' THEN "actor_connection_id" IS NOT NULL AND "actor_user_id" IS NULL AND "actor_key_id" IS NULL
  WHEN 'system' THEN "actor_user_id" IS NULL AND "actor_key_id" IS NULL AND "actor_connection_id" IS NULL
  ELSE false END);
-- A row is numbered and hashed at once. Details are erased together with their salt.
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_hash_check" CHECK (("sequence" IS NULL) = ("hash" IS NULL));
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_actor_salt_check"
  CHECK (("actor_details" IS NULL) = ("actor_salt" IS NULL));
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_details_salt_check"
  CHECK (("details" IS NULL) = ("details_salt" IS NULL));
ALTER TABLE "audit_chains" ADD CONSTRAINT "audit_chains_cut_check" CHECK ("cut_sequence" BETWEEN 0 AND "last_sequence");

-- The rows that wait for their number.
CREATE INDEX "audit_log_unnumbered" ON "audit_log"("workspace_id", "id") WHERE "sequence" IS NULL;
-- The rows that name a person, for their erasure.
CREATE INDEX "audit_log_actor_details" ON "audit_log"("actor_user_id")
  WHERE "actor_user_id" IS NOT NULL AND "actor_details" IS NOT NULL;
CREATE INDEX "audit_log_member_details" ON "audit_log"("target_id")
  WHERE "target_kind" = 'member' AND "details" IS NOT NULL;

-- Hashes the personal fields of a new row, so that any statement can insert one. The salts have 122 random bits.
CREATE FUNCTION "hash_audit_details"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW."sequence" IS NOT NULL OR NEW."hash" IS NOT NULL THEN
    RAISE EXCEPTION 'A row of the audit log is inserted without a number';
  END IF;
  NEW."actor_details" := coalesce(NEW."actor_details", '{}');
  NEW."actor_salt" := uuid_send(gen_random_uuid());
  NEW."actor_hash" := sha256(NEW."actor_salt" || convert_to(NEW."actor_details", 'UTF8'));
  NEW."details" := coalesce(NEW."details", '{}');
  NEW."details_salt" := uuid_send(gen_random_uuid());
  NEW."details_hash" := sha256(NEW."details_salt" || convert_to(NEW."details", 'UTF8'));
  RETURN NEW;
END $$;

CREATE TRIGGER "audit_log_inserted" BEFORE INSERT ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION "hash_audit_details"();

-- A row changes in two ways only: it gets its number and hash, once, and its details are erased.
CREATE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW."workspace_id", NEW."id", NEW."created_at", NEW."actor_kind", NEW."actor_user_id", NEW."actor_key_id",
      NEW."actor_connection_id", NEW."action", NEW."target_kind", NEW."target_id", NEW."actor_hash", NEW."details_hash")
    IS DISTINCT FROM
     (OLD."workspace_id", OLD."id", OLD."created_at", OLD."actor_kind", OLD."actor_user_id", OLD."actor_key_id",
      OLD."actor_connection_id", OLD."action", OLD."target_kind", OLD."target_id", OLD."actor_hash", OLD."details_hash")
    OR (OLD."sequence" IS NOT NULL AND (NEW."sequence", NEW."hash") IS DISTINCT FROM (OLD."sequence", OLD."hash"))
    OR (NEW."actor_details" IS NOT NULL
      AND (NEW."actor_details", NEW."actor_salt") IS DISTINCT FROM (OLD."actor_details", OLD."actor_salt"))
    OR (NEW."details" IS NOT NULL
      AND (NEW."details", NEW."details_salt") IS DISTINCT FROM (OLD."details", OLD."details_salt"))
  THEN
    RAISE EXCEPTION 'The audit log cannot be changed';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "audit_log_updated" BEFORE UPDATE ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION "refuse_audit_change"();

-- A row is deleted with its workspace, or once it is before the cut-off, which verification checks.
CREATE FUNCTION "refuse_audit_deletion"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM "workspaces" WHERE "id" = OLD."workspace_id") AND NOT EXISTS (
      SELECT FROM "audit_chains" WHERE "workspace_id" = OLD."workspace_id" AND "cut_sequence" >= OLD."sequence") THEN
    RAISE EXCEPTION 'The audit log cannot be deleted';
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER "audit_log_deleted" BEFORE DELETE ON "audit_log"
  FOR EACH ROW EXECUTE FUNCTION "refuse_audit_deletion"();

-- The end and the cut-off of a log only move forward.
CREATE FUNCTION "guard_audit_chain"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW."workspace_id" = OLD."workspace_id" AND NEW."last_sequence" >= OLD."last_sequence"
      AND NEW."cut_sequence" >= OLD."cut_sequence" THEN
      RETURN NEW;
    END IF;
  ELSIF NOT EXISTS (SELECT FROM "workspaces" WHERE "id" = OLD."workspace_id") THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'The chain of an audit log cannot be taken back';
END $$;

CREATE TRIGGER "audit_chains_changed" BEFORE UPDATE OR DELETE ON "audit_chains"
  FOR EACH ROW EXECUTE FUNCTION "guard_audit_chain"();

CREATE FUNCTION "refuse_audit_truncation"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The audit log cannot be emptied';
END $$;

CREATE TRIGGER "audit_log_truncated" BEFORE TRUNCATE ON "audit_log" EXECUTE FUNCTION "refuse_audit_truncation"();
CREATE TRIGGER "audit_chains_truncated" BEFORE TRUNCATE ON "audit_chains" EXECUTE FUNCTION "refuse_audit_truncation"();
