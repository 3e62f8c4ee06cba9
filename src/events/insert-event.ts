import type { EventData, LoggedType } from './catalogue.ts';

/** An SQL expression for each field of an event's data. */
export type EventColumns<Type extends LoggedType> = Readonly<Record<keyof EventData<Type>, string>>;

/**
 * SQL that adds an event for each row of `from`: a statement, or a part of one. Use it where only the database knows
 * the data, and `emit` everywhere else. `data` and `at`, the time at which the events happened, are expressions; `from`
 * may end with `where` and `order by`. The type of `data` ensures that no field is missing. `emit` also checks their
 * values; here, the tests check every event that they cause.
 */
export function insertEvent<Type extends LoggedType>(
  type: Type,
  data: EventColumns<Type>,
  { from, at }: { from: string; at: string },
): string {
  // `as`: TypeScript types the entries of an object of a generic type as unknown.
  const fields = (Object.entries(data) as [string, string][]).map(([name, value]) => `'${name}', ${value}`);
  return `
    insert into events (workspace_id, type, data, created_at, traceparent)
    select ${data.workspace_id}, '${type}', jsonb_build_object(${fields.join(', ')}), ${at}, $traceparent
    from ${from}`;
}
