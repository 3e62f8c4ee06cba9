/** The media library: upload, find, look at, label and delete files. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { ArrowDownUp, Clock, Tags } from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import { Button } from '../../../components/Button.tsx';
import { controlClass } from '../../../components/Form.tsx';
import { Menu, MenuChoice, MenuSeparator } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SearchField } from '../../../components/SearchField.tsx';
import { useHasRole, useWorkspace } from '../../../lib/workspace.ts';
import { ItemList } from './-library/ItemList.tsx';
import { ItemPanel } from './-library/ItemPanel.tsx';
import type { Filter } from './-library/items.ts';
import { LabelsDialog } from './-library/LabelsDialog.tsx';
import { labelsOptions } from './-library/labels.ts';
import { RetentionDialog } from './-library/RetentionDialog.tsx';
import { DropArea, UploadButton, UploadList } from './-library/Uploads.tsx';

const MAX_SEARCH_LENGTH = 200;

const sorts = [
  { value: 'date', label: 'Date' },
  { value: 'name', label: 'Name' },
  { value: 'size', label: 'Size' },
] as const;
const orders = [
  { value: 'desc', label: 'Descending' },
  { value: 'asc', label: 'Ascending' },
] as const;

type LibrarySearch = Filter & { item?: number };

export const Route = createFileRoute('/w/$workspaceId/library')({
  validateSearch: toSearch,
  component: LibraryPage,
});

/** What is not valid in the address is left out. */
function toSearch({ search, label, sort, order, item }: Record<string, unknown>): LibrarySearch {
  return {
    ...(typeof search === 'string' && search !== '' && { search: search.slice(0, MAX_SEARCH_LENGTH) }),
    ...(isId(label) && { label }),
    ...((sort === 'name' || sort === 'size') && { sort }),
    ...(order === 'asc' && { order }),
    ...(isId(item) && { item }),
  };
}

function isId(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0;
}

function LibraryPage() {
  const { id } = useWorkspace();
  const isAdmin = useHasRole('admin');
  const isOwner = useHasRole('owner');
  const { item, ...filter } = Route.useSearch();
  const navigate = Route.useNavigate();
  const [dialog, setDialog] = useState<'labels' | 'retention' | null>(null);
  const change = useCallback(
    (part: Partial<Record<keyof LibrarySearch, string | number | undefined>>) =>
      void navigate({ search: (search) => toSearch({ ...search, ...part }), replace: !('item' in part) }),
    [navigate],
  );
  return (
    <DropArea workspaceId={id}>
      <PageHeader
        title="Library"
        text="PDF and MP4 files of up to 100 MB. Drop them anywhere on this page."
        actions={
          <>
            <UploadButton workspaceId={id} />
            {isAdmin && (
              <Button icon={<Tags aria-hidden size={18} />} onClick={() => setDialog('labels')}>
                Labels
              </Button>
            )}
            {isOwner && (
              <Button icon={<Clock aria-hidden size={18} />} onClick={() => setDialog('retention')}>
                Retention
              </Button>
            )}
          </>
        }
      />
      <UploadList workspaceId={id} />
      <FilterBar filter={filter} onChange={change} />
      <ItemList filter={filter} onOpen={(itemId) => change({ item: itemId })} onReset={() => change(noFilter)} />
      {item !== undefined && <ItemPanel key={item} itemId={item} onClose={() => change({ item: undefined })} />}
      {dialog === 'labels' && <LabelsDialog onClose={() => setDialog(null)} />}
      {isOwner && dialog === 'retention' && <RetentionDialog onClose={() => setDialog(null)} />}
    </DropArea>
  );
}

const noFilter = { search: undefined, label: undefined };

type FilterBarProps = {
  filter: Filter;
  onChange: (part: Partial<Record<keyof Filter, string | number | undefined>>) => void;
};

function FilterBar({ filter, onChange }: FilterBarProps): ReactNode {
  const { id } = useWorkspace();
  const labels = useQuery({
    ...labelsOptions(id),
    placeholderData: keepPreviousData,
  });
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label="Search by name"
        placeholder="Search by name"
        value={filter.search ?? ''}
        onSearch={(search) => onChange({ search })}
        className="min-w-48 grow"
      />
      <select
        aria-label="Filter by label"
        value={filter.label ?? ''}
        onChange={({ target }) => onChange({ label: target.value === '' ? undefined : Number(target.value) })}
        className={`h-10 !w-48 ${controlClass}`}
      >
        <option value="">All labels</option>
        {labels.data?.map((label) => (
          <option key={label.id} value={label.id}>
            {label.name}
          </option>
        ))}
      </select>
      <Menu trigger={<Button icon={<ArrowDownUp aria-hidden size={16} />}>Sort</Button>}>
        <MenuChoice
          label="Sort by"
          value={filter.sort ?? 'date'}
          options={sorts}
          onChange={(sort) => onChange({ sort })}
        />
        <MenuSeparator />
        <MenuChoice
          label="Order"
          value={filter.order ?? 'desc'}
          options={orders}
          onChange={(order) => onChange({ order })}
        />
      </Menu>
    </search>
  );
}
