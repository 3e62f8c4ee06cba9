-- The name of a room may have one character. Existing names meet the narrower condition, so they need no check.
ALTER TABLE "rooms" DROP CONSTRAINT "rooms_name_check",
  ADD CONSTRAINT "rooms_name_check" CHECK ("name" ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND length("name") BETWEEN 1 AND 64)
  NOT VALID;
