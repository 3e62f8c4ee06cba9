-- The events of a contact can be deleted: when the contact is erased, and when they are old. The sums of analytics stay,
-- so the transaction has to say that it means this.
DROP TRIGGER "contact_events_kept" ON "contact_events";
CREATE TRIGGER "contact_events_kept" BEFORE DELETE ON "contact_events"
  FOR EACH STATEMENT
  WHEN (pg_trigger_depth() = 0 AND current_setting('lynxroom.keeps_sums', true) IS DISTINCT FROM 'on')
  EXECUTE FUNCTION "refuse_changed_counts"();
