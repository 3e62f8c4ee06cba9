import { CheckboxField, SelectField, TextField } from '../../../../components/Form.tsx';
import { timeZones, viewerZone } from '../../../../lib/format.ts';
import type { Search } from './search.ts';

type RangeFiltersProps = {
  search: Search;
  /** The days that the charts show. */
  shown: { from: string; to: string } | undefined;
  onChange: (search: Search) => void;
};

/** Which days the charts cover. */
export function RangeFilters({ search, shown, onChange }: RangeFiltersProps) {
  const zone = search.zone ?? viewerZone;
  const known = timeZones.some(({ value }) => value === zone);
  function set(name: 'from' | 'to' | 'zone', value: string): void {
    const { [name]: _, ...others } = search;
    onChange(value === '' ? others : { ...others, [name]: value });
  }
  return (
    <search aria-label="Days" className="mb-4 flex flex-wrap items-end gap-3">
      <TextField
        name="from"
        label="From"
        type="date"
        value={search.from ?? shown?.from ?? ''}
        onChange={({ target }) => set('from', target.value)}
      />
      <TextField
        name="to"
        label="To"
        type="date"
        value={search.to ?? shown?.to ?? ''}
        onChange={({ target }) => set('to', target.value)}
      />
      <SelectField
        name="zone"
        label="Time zone"
        className="w-56"
        value={zone}
        options={known ? timeZones : [...timeZones, { value: zone, label: zone }]}
        onChange={({ target }) => set('zone', target.value)}
      />
      <CheckboxField
        name="compare"
        label="Compare with the days before"
        checked={search.compare === true}
        onChange={({ target }) => {
          const { compare: _, ...others } = search;
          onChange(target.checked ? { ...others, compare: true } : others);
        }}
      />
    </search>
  );
}
