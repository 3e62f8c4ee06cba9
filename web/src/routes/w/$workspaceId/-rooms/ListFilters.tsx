import type { ReactNode } from 'react';
import { CheckboxField, TextField } from '../../../../components/Form.tsx';
import { SearchField } from '../../../../components/SearchField.tsx';
import { type Filters, isEmptyRange } from './filters.ts';

type ListFiltersProps = {
  label: string;
  placeholder: string;
  filters: Filters;
  onChange: (change: Partial<Filters>) => void;
  /** Further filters of the list. */
  children?: ReactNode;
};

/** A search and filters above a list. */
export function ListFilters({ label, placeholder, filters, onChange, children }: ListFiltersProps) {
  return (
    <search aria-label="Filters" className="mb-4 flex flex-wrap items-end gap-x-4 gap-y-2">
      <SearchField
        label={label}
        placeholder={placeholder}
        value={filters.search}
        onSearch={(search) => onChange({ search })}
      />
      <div className="flex items-end gap-4">
        <TextField
          name="from"
          label="From"
          type="date"
          value={filters.from}
          onChange={({ target }) => onChange({ from: target.value })}
        />
        <TextField
          name="to"
          label="To"
          type="date"
          value={filters.to}
          error={isEmptyRange(filters) ? 'Before the first day' : undefined}
          onChange={({ target }) => onChange({ to: target.value })}
        />
      </div>
      {children}
      <div className="flex h-10 items-center">
        <CheckboxField
          name="mine"
          label="Only my rooms"
          checked={filters.isMine}
          onChange={({ target }) => onChange({ isMine: target.checked })}
        />
      </div>
    </search>
  );
}
