-- lynxroom: no transaction
DROP INDEX CONCURRENTLY "participants_user_id_idx";
