import type { LibraryItem } from '@lynxroom/client';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { FileText, Film, FolderOpen, Tag, Trash2 } from 'lucide-react';
import { useCallback, useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { ConfirmDialog } from '../../../../components/Dialog.tsx';
import { EmptyState } from '../../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { Poster } from '../../../../components/Poster.tsx';
import { Skeleton, SkeletonRows } from '../../../../components/Skeleton.tsx';
import { Time } from '../../../../components/Time.tsx';
import { VirtualList } from '../../../../components/VirtualList.tsx';
import { formatBytes, formatDuration, formatNumber } from '../../../../lib/format.ts';
import { useHasRole, useWorkspace } from '../../../../lib/workspace.ts';
import { type Filter, ITEMS_PER_PAGE, pageOptions, useDeleteItems, useSetLabel } from './items.ts';
import { labelsOptions } from './labels.ts';

const ROW_HEIGHT = 64;
const MAX_SELECTED = 100;

type ItemListProps = { filter: Filter; onOpen: (itemId: number) => void; onReset: () => void };

/** All items that match, of which only those in sight are read and shown. */
export function ItemList({ filter, onOpen, onReset }: ItemListProps) {
  const { id } = useWorkspace();
  const [range, setRange] = useState<readonly [number, number]>([0, 0]);
  const [selected, setSelected] = useState<ReadonlyMap<number, LibraryItem>>(new Map());
  const first = useQuery({ ...pageOptions(id, filter, 0), placeholderData: keepPreviousData });
  const [from, to] = range.map((index) => Math.floor(index / ITEMS_PER_PAGE)) as [number, number];
  const pages = useQueries({
    queries: Array.from({ length: to - from + 1 }, (_, index) => pageOptions(id, filter, from + index)),
  });
  const onRange = useCallback((start: number, end: number) => setRange([start, end]), []);

  if (first.isPending) return <SkeletonRows count={8} />;
  if (first.isError) {
    return <ErrorPanel what="The library could not be loaded" error={first.error} onRetry={() => first.refetch()} />;
  }
  const { total } = first.data;
  if (total === 0)
    return <NoItems isFiltered={filter.search !== undefined || filter.label !== undefined} onReset={onReset} />;

  const itemAt = (index: number): LibraryItem | undefined => {
    const page = Math.floor(index / ITEMS_PER_PAGE);
    const answer = pages[page - from]?.data ?? (page === 0 ? first.data : undefined);
    return answer?.items[index % ITEMS_PER_PAGE];
  };
  function toggle(item: LibraryItem): void {
    const next = new Map(selected);
    if (!next.delete(item.id) && next.size < MAX_SELECTED) next.set(item.id, item);
    setSelected(next);
  }

  const failed = pages.find(({ isError }) => isError);
  return (
    <>
      {failed && (
        <ErrorPanel what="Some items could not be loaded" error={failed.error} onRetry={() => failed.refetch()} />
      )}
      <Selection selected={selected} onClear={() => setSelected(new Map())} total={total} />
      <VirtualList
        label="Items"
        count={total}
        rowHeight={ROW_HEIGHT}
        onRange={onRange}
        className="rounded-xl border border-line"
        renderRow={(index) => {
          const item = itemAt(index);
          return item ? (
            <ItemRow item={item} isSelected={selected.has(item.id)} onToggle={() => toggle(item)} onOpen={onOpen} />
          ) : (
            <div className="p-4">
              <Skeleton className="h-6 w-2/3" />
            </div>
          );
        }}
      />
    </>
  );
}

type ItemRowProps = {
  item: LibraryItem;
  isSelected: boolean;
  onToggle: () => void;
  onOpen: (itemId: number) => void;
};

function ItemRow({ item, isSelected, onToggle, onOpen }: ItemRowProps) {
  const Icon = item.mime_type === 'video/mp4' ? Film : FileText;
  return (
    <div
      className={`flex h-full items-center gap-3 border-b border-line px-3 [li:last-child>&]:border-b-0 ${isSelected ? 'bg-accent-soft' : ''}`}
    >
      <input
        type="checkbox"
        aria-label={`Select ${item.name}`}
        checked={isSelected}
        onChange={onToggle}
        className="size-4 shrink-0 accent-accent"
      />
      <Poster url={item.poster_url} icon={<Icon aria-hidden size={20} />} className="h-10 w-16" />
      <div className="min-w-0 grow">
        <button
          type="button"
          title={item.name}
          className="block max-w-full truncate text-left font-medium hover:underline"
          onClick={() => onOpen(item.id)}
        >
          {item.name}
        </button>
        <p className="flex gap-2 truncate text-sm text-muted">
          <span className="whitespace-nowrap">
            {formatBytes(item.size)}
            {item.duration !== null && `, ${formatDuration(item.duration)}`}
          </span>
          <span className="flex min-w-0 gap-2">
            {item.labels.map((label) => (
              <LabelTag key={label.id} {...label} />
            ))}
          </span>
        </p>
      </div>
      <div className="hidden shrink-0 text-right text-sm text-muted sm:block">
        <p title={item.uploaded_by_name} className="max-w-40 truncate">
          {item.uploaded_by_name}
        </p>
        <Time at={item.created_at} />
      </div>
    </div>
  );
}

/** The color is a dot: text on a color that a user chose may be unreadable. */
export function LabelTag({ name, color }: { name: string; color: string }) {
  return (
    <span className="inline-flex min-w-0 items-center gap-1">
      <span aria-hidden className="size-2.5 shrink-0 rounded-full border border-line" style={{ background: color }} />
      <span title={name} className="truncate">
        {name}
      </span>
    </span>
  );
}

function NoItems({ isFiltered, onReset }: { isFiltered: boolean; onReset: () => void }) {
  const icon = <FolderOpen aria-hidden size={32} />;
  if (isFiltered) {
    return (
      <EmptyState icon={icon} title="Nothing found" action={<Button onClick={onReset}>Clear the filters</Button>}>
        No item has this name and label.
      </EmptyState>
    );
  }
  return (
    <EmptyState icon={icon} title="The library is empty">
      Upload the first file, or drop it here. Recordings can be saved to the library too.
    </EmptyState>
  );
}

type SelectionProps = { selected: ReadonlyMap<number, LibraryItem>; total: number; onClear: () => void };

/** How many items there are, or what can be done with those that are selected. */
function Selection({ selected, total, onClear }: SelectionProps) {
  const { id } = useWorkspace();
  const labels = useQuery(labelsOptions(id));
  const setLabel = useSetLabel(id);
  const deleteItems = useDeleteItems(id);
  const [isAsking, setIsAsking] = useState(false);
  const itemIds = [...selected.keys()];
  if (itemIds.length === 0) {
    return <p className="mb-2 text-sm text-muted">{total === 1 ? '1 item' : `${formatNumber(total)} items`}</p>;
  }
  const isOnAll = (labelId: number) =>
    [...selected.values()].every((item) => item.labels.some((label) => label.id === labelId));
  return (
    <div className="mb-2 flex flex-wrap items-center gap-2">
      <p role="status" className="mr-2 font-medium">
        {itemIds.length} selected{itemIds.length === MAX_SELECTED && ' (the maximum)'}
      </p>
      <Menu
        align="start"
        trigger={
          <Button size="small" icon={<Tag aria-hidden size={16} />}>
            Label
          </Button>
        }
      >
        {labels.data?.length ? (
          labels.data.map((label) => (
            <MenuItem
              key={label.id}
              onSelect={() => {
                setLabel.mutate({ itemIds, label, isSet: !isOnAll(label.id) });
                onClear();
              }}
            >
              <LabelTag {...label} />
              {isOnAll(label.id) && <span className="text-sm text-muted">remove</span>}
            </MenuItem>
          ))
        ) : (
          <NoLabels />
        )}
      </Menu>
      <Button size="small" icon={<Trash2 aria-hidden size={16} />} onClick={() => setIsAsking(true)}>
        Delete
      </Button>
      <Button size="small" tone="quiet" onClick={onClear}>
        Clear the selection
      </Button>
      {isAsking && (
        <ConfirmDialog
          onClose={() => setIsAsking(false)}
          title={itemIds.length === 1 ? 'Delete this item?' : `Delete ${itemIds.length} items?`}
          text="The files are deleted too. This cannot be undone."
          action="Delete"
          onConfirm={async () => {
            deleteItems.mutate(itemIds);
            onClear();
          }}
        />
      )}
    </div>
  );
}

/** What a menu of labels shows if the workspace has none. */
export function NoLabels() {
  const mayWrite = useHasRole('admin');
  return (
    <p className="px-3 py-2 text-muted">
      There are no labels yet.{' '}
      {mayWrite ? 'Create one with “Labels” in the library.' : 'The owner and admins create them.'}
    </p>
  );
}
