-- Beyond Prisma ------------------------------------------------------------------------------------------------------

ALTER TABLE "audit_log" VALIDATE CONSTRAINT "audit_log_actor_check";
