import { useQuery } from '@tanstack/react-query';
import { Button } from '../../../../components/Button.tsx';
import { Field, SelectField, TextField } from '../../../../components/Form.tsx';
import { allPagesOf } from '../../../../lib/all-pages.ts';
import { client, trpc } from '../../../../lib/client.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { actionLabels, kindLabels } from './audit.ts';
import type { Search } from './search.ts';

const kinds = [
  { value: '', label: 'Everybody' },
  { value: 'user', label: 'People' },
  { value: 'key', label: 'API keys' },
  { value: 'participant', label: 'Participants' },
  { value: 'system', label: 'The service' },
];

type AuditFiltersProps = { search: Search; onChange: (search: Search) => void };

/** Who did what, and when. */
export function AuditFilters({ search, onChange }: AuditFiltersProps) {
  const id = useWorkspaceId();
  const members = useQuery({
    queryKey: [...trpc.workspaces.read.queryKey({ id }), 'all'],
    queryFn: ({ signal }) =>
      allPagesOf(
        (cursor) => client.workspaces.read.query({ id, cursor }, { signal }),
        (page) => page.workspace.members,
      ),
  });
  const { who = '', what = '' } = search;
  const people = (members.data ?? []).map((member) => ({
    value: `user-${member.id}`,
    label: member.name,
  }));
  const options = [...kinds, ...people];

  function set(name: keyof Search, value: string): void {
    const { [name]: _, ...others } = search;
    onChange(value === '' ? others : { ...others, [name]: value });
  }

  return (
    <search aria-label="Filters" className="mb-4 flex flex-wrap items-end gap-3">
      <SelectField
        name="who"
        label="Who"
        // Its options are read later, and must not make it wider.
        className="w-48"
        value={who}
        onChange={({ target }) => set('who', target.value)}
        // Adds the selected value if it is missing. The options contain no API keys and no former members, and only the
        // first page of the members.
        options={
          options.some(({ value }) => value === who) ? options : [...options, { value: who, label: nameOf(who) }]
        }
      />
      <Field name="what" label="What">
        {(control) => (
          <select
            {...control}
            value={what}
            onChange={({ target }) => set('what', target.value)}
            className={`h-10 ${control.className}`}
          >
            <option value="">Everything</option>
            {Object.entries(kindLabels).map(([kind, label]) => (
              <optgroup key={kind} label={label}>
                <option value={kind}>{label}: everything</option>
                {Object.entries(actionLabels)
                  .filter(([action]) => action.startsWith(`${kind}.`))
                  .map(([action, text]) => (
                    <option key={action} value={action}>
                      {text}
                    </option>
                  ))}
              </optgroup>
            ))}
          </select>
        )}
      </Field>
      <TextField
        name="from"
        label="From"
        type="date"
        value={search.from ?? ''}
        onChange={({ target }) => set('from', target.value)}
      />
      <TextField
        name="to"
        label="To"
        type="date"
        value={search.to ?? ''}
        onChange={({ target }) => set('to', target.value)}
      />
      {Object.keys(search).length > 0 && <Button onClick={() => onChange({})}>Clear</Button>}
    </search>
  );
}

function nameOf(who: string): string {
  return who.replace(/^user-/, 'User ').replace(/^key-/, 'API key ');
}
