/** The columns of a pass that its maker sees. */
import type { Metadata } from '../../core/metadata.ts';
import { flagOf, secondsOf } from '../../db/columns.ts';
import { float, int, json, nullable, text } from '../../db/statements.ts';

export const passReturns = {
  id: int,
  room_name: text,
  name: text,
  email: nullable(text),
  external_id: nullable(text),
  is_host: int,
  admitted: int,
  may_record: nullable(int),
  metadata: nullable(json<Metadata>()),
  created_at: float,
  expires_at: float,
};

/** Selects them of the pass `q`, in the room whose name is the parameter `roomName`. */
export const passColumns = `
    q.id, $roomName as room_name, q.name, q.email, q.external_id, ${flagOf('q.is_host')} as is_host,
      ${flagOf('q.is_admitted')} as admitted, ${flagOf('q.may_record')} as may_record, q.metadata,
      ${secondsOf('q.created_at')} as created_at, ${secondsOf('q.expires_at')} as expires_at`;
