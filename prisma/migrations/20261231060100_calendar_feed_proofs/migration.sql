-- What the session had proven in which the feed was created. An earlier feed has proven nothing.
ALTER TABLE "calendar_feeds" ADD COLUMN "second_factor_at" TIMESTAMPTZ(3), ADD COLUMN "openid_issuer" TEXT;
