-- The rules of src/features/bookings/mailbox.ts cover more providers than they did. Only upcoming bookings are counted
-- by their mailbox, so the others stay as they are.

UPDATE "bookings" b SET "mailbox" = CASE
    WHEN domain ~ '^[^.]*\.fastmail\.(com|fm)$'
      THEN split_part(domain, '.', 1) || '@' || substr(domain, strpos(domain, '.') + 1)
    WHEN domain IN ('gmail.com', 'googlemail.com') THEN replace(base, '.', '') || '@gmail.com'
    WHEN domain IN ('proton.me', 'protonmail.com', 'protonmail.ch', 'pm.me')
      THEN regexp_replace(base, '[._-]', '', 'g') || '@proton.me'
    WHEN domain IN ('yandex.ru', 'yandex.com', 'yandex.by', 'yandex.kz', 'ya.ru')
      THEN regexp_replace(base, '[.-]', '', 'g') || '@yandex.ru'
    WHEN domain IN ('icloud.com', 'me.com', 'mac.com') THEN base || '@icloud.com'
    WHEN domain IN ('yahoo.com', 'ymail.com', 'rocketmail.com', 'yahoo.co.uk', 'yahoo.de', 'yahoo.fr', 'yahoo.it',
        'yahoo.es')
      THEN regexp_replace(base, '(.)-.*$', '\1') || '@' || domain
    ELSE base || '@' || domain
  END
FROM (
  SELECT "workspace_id", "id", split_part("email", '@', 2) AS domain,
    regexp_replace(split_part("email", '@', 1), '(.)\+.*$', '\1') AS base
  FROM "bookings" WHERE "starts_at" > now() AND "cancelled_at" IS NULL) n
WHERE b."workspace_id" = n."workspace_id" AND b."id" = n."id";
