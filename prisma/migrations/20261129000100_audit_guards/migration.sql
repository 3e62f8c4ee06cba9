-- Meeting providers never act on what the audit log records.
ALTER TABLE "audit_log" DROP CONSTRAINT "audit_log_actor_check";
-- Replaced first: it reads the column that is dropped below.
CREATE OR REPLACE FUNCTION "refuse_audit_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW."workspace_id", NEW."id", NEW."created_at", NEW."actor_kind", NEW."actor_user_id", NEW."actor_key_id",
      NEW."action", NEW."target_kind", NEW."target_id", NEW."actor_hash", NEW."details_hash")
    IS DISTINCT FROM
     (OLD."workspace_id", OLD."id", OLD."created_at", OLD."actor_kind", OLD."actor_user_id", OLD."actor_key_id",
      OLD."action", OLD."target_kind", OLD."target_id", OLD."actor_hash", OLD."details_hash")
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

-- AlterTable
ALTER TABLE "audit_log" DROP COLUMN "actor_connection_id";

-- Beyond Prisma ------------------------------------------------------------------------------------------------------

ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_actor_check" CHECK (CASE "actor_kind"
  WHEN 'user' THEN "actor_user_id" IS NOT NULL AND "actor_key_id" IS NULL
  WHEN 'key' THEN "actor_key_id" IS NOT NULL
  WHEN 'system' THEN "actor_user_id" IS NULL AND "actor_key_id" IS NULL
  ELSE false END);

-- The tables have their schema: PostgreSQL looks for other names among temporary tables first, and an empty temporary
-- table "workspaces" allowed to delete every entry.
CREATE OR REPLACE FUNCTION "refuse_audit_deletion"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM "public"."workspaces" WHERE "id" = OLD."workspace_id") AND NOT EXISTS (
      SELECT FROM "public"."audit_chains"
      WHERE "workspace_id" = OLD."workspace_id" AND "cut_sequence" >= OLD."sequence") THEN
    RAISE EXCEPTION 'The audit log cannot be deleted';
  END IF;
  RETURN OLD;
END $$;

CREATE OR REPLACE FUNCTION "guard_audit_chain"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW."workspace_id" = OLD."workspace_id" AND NEW."last_sequence" >= OLD."last_sequence"
      AND NEW."cut_sequence" >= OLD."cut_sequence" THEN
      RETURN NEW;
    END IF;
  ELSIF NOT EXISTS (SELECT FROM "public"."workspaces" WHERE "id" = OLD."workspace_id") THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'The chain of an audit log cannot be taken back';
END $$;
