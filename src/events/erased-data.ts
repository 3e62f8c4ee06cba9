/** What is left of an event about a person whom a workspace has erased, as parts of SQL statements. */

const NAME = 'Erased';
const ADDRESS = 'erased@example.invalid';

/** The data of an event without the fields that name a person. It still matches the schema of the event. */
export function erasedData(data: string): string {
  return `(${data} || coalesce((
  select jsonb_object_agg(f.name, f.value) from (values ('participant_name', '"${NAME}"'::jsonb), ('name', '"${NAME}"'),
    ('guest_name', '"${NAME}"'), ('email', '"${ADDRESS}"'), ('guest_email', '"${ADDRESS}"'),
    ('display_name', 'null'), ('external_id', 'null'), ('metadata', 'null')) f (name, value)
  where ${data} ? f.name), '{}'::jsonb))`;
}

/** Whether the data of an event named a person who was erased. */
export function isErased(data: string): string {
  return `(coalesce(${data}->>'email', ${data}->>'guest_email', '') = '${ADDRESS}'
  or coalesce(${data}->>'participant_name', '') = '${NAME}')`;
}
