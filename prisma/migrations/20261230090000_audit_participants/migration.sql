-- Beyond Prisma ------------------------------------------------------------------------------------------------------

-- A participant who is a host by a pass acts too. The check of what is stored already follows in a migration of its own.
ALTER TABLE "audit_log" DROP CONSTRAINT "audit_log_actor_check";
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_actor_check" CHECK (CASE "actor_kind"
  WHEN 'user' THEN "actor_user_id" IS NOT NULL AND "actor_key_id" IS NULL
  WHEN 'key' THEN "actor_key_id" IS NOT NULL
  WHEN 'participant' THEN "actor_user_id" IS NULL AND "actor_key_id" IS NULL
  WHEN 'system' THEN "actor_user_id" IS NULL AND "actor_key_id" IS NULL
  ELSE false END) NOT VALID;
