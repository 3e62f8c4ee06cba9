/** The search above the list of members, and its order. */
import { ArrowDownUp } from 'lucide-react';
import { Button } from '../../../../components/Button.tsx';
import { Menu, MenuChoice, MenuSeparator } from '../../../../components/Menu.tsx';
import { SearchField } from '../../../../components/SearchField.tsx';
import type { MemberFilter } from './queries.ts';

const sorts = [
  { value: 'joined_at', label: 'Joined' },
  { value: 'name', label: 'Name' },
] as const;
const orders = [
  { value: 'asc', label: 'Ascending' },
  { value: 'desc', label: 'Descending' },
] as const;

type MemberFiltersProps = { filter: MemberFilter; onChange: (filter: MemberFilter) => void };

export function MemberFilters({ filter, onChange }: MemberFiltersProps) {
  return (
    <search className="mb-4 flex flex-wrap items-center gap-2">
      <SearchField
        label="Search members"
        placeholder="Name or email address"
        value={filter.search ?? ''}
        onSearch={(search) => onChange({ ...filter, search })}
        className="min-w-48 max-w-sm grow"
      />
      <Menu trigger={<Button icon={<ArrowDownUp aria-hidden size={16} />}>Sort</Button>}>
        <MenuChoice
          label="Sort by"
          value={filter.sort ?? 'joined_at'}
          options={sorts}
          onChange={(sort) => onChange({ ...filter, sort })}
        />
        <MenuSeparator />
        <MenuChoice
          label="Order"
          value={filter.order ?? 'asc'}
          options={orders}
          onChange={(order) => onChange({ ...filter, order })}
        />
      </Menu>
    </search>
  );
}
