-- Users and sessions, workspaces and members, labels, the media library, the event log.
-- The first part is drafted from prisma/schema.prisma; what Prisma cannot say follows below it.


-- CreateTable
CREATE TABLE "users" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sessions" (
    "id" SERIAL NOT NULL,
    "user_id" INTEGER NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "workspaces" (
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "slug" TEXT NOT NULL,
    "owner_id" INTEGER NOT NULL,
    "is_personal" BOOLEAN NOT NULL DEFAULT false,
    "invite_token" TEXT,
    "media_retention_days" INTEGER,
    "library_item_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "workspaces_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "members" (
    "workspace_id" INTEGER NOT NULL,
    "user_id" INTEGER NOT NULL,
    "role" TEXT NOT NULL,
    "joined_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "members_pkey" PRIMARY KEY ("workspace_id","user_id")
);

-- CreateTable
CREATE TABLE "labels" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "name" TEXT NOT NULL,
    "color" TEXT NOT NULL,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "labels_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "library_items" (
    "workspace_id" INTEGER NOT NULL,
    "id" SERIAL NOT NULL,
    "uploaded_by" INTEGER,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "file_key" TEXT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "size" BIGINT NOT NULL,
    "sha256" BYTEA NOT NULL,
    "duration" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "library_items_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "item_labels" (
    "workspace_id" INTEGER NOT NULL,
    "item_id" INTEGER NOT NULL,
    "label_id" INTEGER NOT NULL,

    CONSTRAINT "item_labels_pkey" PRIMARY KEY ("workspace_id","item_id","label_id")
);

-- CreateTable
CREATE TABLE "events" (
    "workspace_id" INTEGER NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "type" TEXT NOT NULL,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "events_pkey" PRIMARY KEY ("workspace_id","id")
);

-- CreateTable
CREATE TABLE "discarded_objects" (
    "key" TEXT NOT NULL,
    "discarded_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "discarded_objects_pkey" PRIMARY KEY ("key")
);

-- CreateTable
CREATE TABLE "slug_suffixes" (
    "slug" TEXT NOT NULL,
    "last" INTEGER NOT NULL,

    CONSTRAINT "slug_suffixes_pkey" PRIMARY KEY ("slug")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions"("token_hash");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "sessions"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "workspaces_slug_key" ON "workspaces"("slug");

-- CreateIndex
CREATE INDEX "workspaces_owner_id_idx" ON "workspaces"("owner_id");

-- CreateIndex
CREATE INDEX "members_user_id_idx" ON "members"("user_id");

-- CreateIndex
CREATE INDEX "labels_created_by_idx" ON "labels"("created_by");

-- CreateIndex
CREATE UNIQUE INDEX "labels_workspace_id_name_key" ON "labels"("workspace_id", "name");

-- CreateIndex
CREATE INDEX "library_items_workspace_id_created_at_id_idx" ON "library_items"("workspace_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "library_items_workspace_id_size_id_idx" ON "library_items"("workspace_id", "size", "id");

-- CreateIndex
-- In byte order, as the stores list: the sweep walks both sides of it.
CREATE INDEX "library_items_file_key_idx" ON "library_items"("file_key" COLLATE "C");

-- CreateIndex
CREATE INDEX "library_items_uploaded_by_idx" ON "library_items"("uploaded_by");

-- CreateIndex
CREATE INDEX "item_labels_workspace_id_label_id_item_id_idx" ON "item_labels"("workspace_id", "label_id", "item_id");

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "users"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "members" ADD CONSTRAINT "members_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "members" ADD CONSTRAINT "members_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "labels" ADD CONSTRAINT "labels_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "labels" ADD CONSTRAINT "labels_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "library_items" ADD CONSTRAINT "library_items_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "library_items" ADD CONSTRAINT "library_items_uploaded_by_fkey" FOREIGN KEY ("uploaded_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "item_labels" ADD CONSTRAINT "item_labels_workspace_id_item_id_fkey" FOREIGN KEY ("workspace_id", "item_id") REFERENCES "library_items"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "item_labels" ADD CONSTRAINT "item_labels_workspace_id_label_id_fkey" FOREIGN KEY ("workspace_id", "label_id") REFERENCES "labels"("workspace_id", "id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "events" ADD CONSTRAINT "events_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Beyond Prisma: invariants ------------------------------------------------------------------------------------------

CREATE EXTENSION IF NOT EXISTS pg_trgm;

ALTER TABLE "members" ADD CONSTRAINT "members_role_check" CHECK ("role" IN ('owner', 'admin', 'member'));

-- Exactly one owner a workspace: at most one by this index, at least one by the deferred key below it (the owner is
-- always a member, looked at when the transaction commits).
CREATE UNIQUE INDEX "members_one_owner" ON "members"("workspace_id") WHERE "role" = 'owner';
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_owner_is_member_fkey" FOREIGN KEY ("id", "owner_id")
  REFERENCES "members"("workspace_id", "user_id") DEFERRABLE INITIALLY DEFERRED;

-- Partial, so that PostgreSQL does not count the column as a key: changing a key would wait for everybody who refers to the
-- workspace, and they for the workspace.
CREATE UNIQUE INDEX "workspaces_invite_token" ON "workspaces"("invite_token") WHERE "invite_token" IS NOT NULL;

CREATE UNIQUE INDEX "workspaces_one_personal" ON "workspaces"("owner_id") WHERE "is_personal";

ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_retention_check"
  CHECK ("media_retention_days" IN (7, 30, 60, 90, 180, 365));

ALTER TABLE "library_items" ADD CONSTRAINT "library_items_size_check" CHECK ("size" >= 0);
ALTER TABLE "library_items" ADD CONSTRAINT "library_items_duration_check" CHECK ("duration" >= 0);
ALTER TABLE "library_items" ADD CONSTRAINT "library_items_mime_type_check"
  CHECK ("mime_type" IN ('application/pdf', 'video/mp4'));

-- Beyond Prisma: indexes of the library list -------------------------------------------------------------------------

CREATE INDEX "library_items_workspace_id_lower_name_idx" ON "library_items"("workspace_id", lower("name"), "id");
CREATE INDEX "library_items_name_trgm" ON "library_items" USING gin ("name" gin_trgm_ops);

-- Beyond Prisma: what follows from every insert and delete of an item, whoever makes it -------------------------------

CREATE FUNCTION "count_added_library_items"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "library_item_count" = w."library_item_count" + a.n
    FROM (SELECT "workspace_id", count(*)::int AS n FROM "added" GROUP BY 1) a WHERE w."id" = a."workspace_id";
  RETURN NULL;
END $$;

CREATE TRIGGER "library_items_added" AFTER INSERT ON "library_items"
  REFERENCING NEW TABLE AS "added" FOR EACH STATEMENT EXECUTE FUNCTION "count_added_library_items"();

CREATE FUNCTION "settle_removed_library_items"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "workspaces" w SET "library_item_count" = w."library_item_count" - r.n
    FROM (SELECT "workspace_id", count(*)::int AS n FROM "removed" GROUP BY 1) r WHERE w."id" = r."workspace_id";
  INSERT INTO "discarded_objects" ("key") SELECT "file_key" FROM "removed" ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER "library_items_removed" AFTER DELETE ON "library_items"
  REFERENCING OLD TABLE AS "removed" FOR EACH STATEMENT EXECUTE FUNCTION "settle_removed_library_items"();

-- Beyond Prisma: every object that a row refers to, whatever table it stands in; the storage sweep compares with it ----

CREATE VIEW "stored_objects" AS SELECT "file_key" AS "key", "created_at" FROM "library_items";
