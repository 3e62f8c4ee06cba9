-- The directories that servers of this database have created, so that a first start that was killed can be repeated.

-- CreateTable
CREATE TABLE "created_store_ids" (
    "store" TEXT NOT NULL,

    CONSTRAINT "created_store_ids_pkey" PRIMARY KEY ("store")
);

INSERT INTO "created_store_ids" SELECT "store" FROM "object_store_id" WHERE "store" LIKE 'disk:%';
