/** The media library: upload, find, look at, label and delete files. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { ArrowDownUp, Clock, Search, Tags, X } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { Button, IconButton } from '../../../components/Button.tsx';
import { controlClass } from '../../../components/Form.tsx';
import { Menu, MenuChoice, MenuSeparator } from '../../../components/Menu.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { isAtLeast } from '../../../lib/roles.ts';
import { useWorkspace } from '../../../lib/workspace.ts';
import { ItemList } from './-library/ItemList.tsx';
import { ItemPanel } from './-library/ItemPanel.tsx';
import type { Filter } from './-library/items.ts';
import { LabelsDialog } from './-library/LabelsDialog.tsx';
import { labelsOptions } from './-library/labels.ts';
import { RetentionDialog } from './-library/RetentionDialog.tsx';
import { DropArea, UploadButton, UploadList } from './-library/Uploads.tsx';

/** Keystrokes that follow each other more quickly than this are one burst, such as a held Backspace key. */
const BURST_MS = 50;
/** Joins the keystrokes of a burst. A longer delay would be felt, because the answer takes only a few milliseconds. */
const SEARCH_DELAY_MS = 25;
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
  const { id, role } = useWorkspace();
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
            {isAtLeast(role, 'admin') && (
              <Button icon={<Tags aria-hidden size={18} />} onClick={() => setDialog('labels')}>
                Labels
              </Button>
            )}
            {role === 'owner' && (
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
      <LabelsDialog isOpen={dialog === 'labels'} onClose={() => setDialog(null)} />
      {role === 'owner' && <RetentionDialog isOpen={dialog === 'retention'} onClose={() => setDialog(null)} />}
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
      <SearchField value={filter.search ?? ''} onChange={(search) => onChange({ search })} />
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

/** Searches as the user types: at once after a single keystroke, and shortly after the last one of a burst. */
function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const [sent, setSent] = useState(value);
  const lastKeyAt = useRef(0);
  // The address changed in another way, for example by the browser's Back.
  if (value !== sent) {
    setSent(value);
    if (value !== text.trim()) setText(value);
  }
  useEffect(() => {
    if (text.trim() === value) return;
    const isBurst = performance.now() - lastKeyAt.current < BURST_MS;
    lastKeyAt.current = performance.now();
    if (!isBurst) return onChange(text.trim());
    const timer = setTimeout(() => onChange(text.trim()), SEARCH_DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <div className="relative min-w-48 grow">
      <Search aria-hidden size={16} className="pointer-events-none absolute top-3 left-3 text-muted" />
      <input
        type="text"
        aria-label="Search by name"
        placeholder="Search by name"
        maxLength={MAX_SEARCH_LENGTH}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && setText('')}
        className={`h-10 ${controlClass} px-9`}
      />
      {text !== '' && (
        <IconButton
          label="Clear the search"
          icon={<X aria-hidden size={16} />}
          className="absolute top-0 right-0"
          onClick={() => setText('')}
        />
      )}
    </div>
  );
}
