-- An account that only the domain of its address let register works once the address is confirmed.
ALTER TABLE "users" ADD COLUMN     "admitted_by_domain" BOOLEAN NOT NULL DEFAULT false;
