import type { LibraryItem } from '@lynxroom/client';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { FolderOpen } from 'lucide-react';
import { useCallback, useState } from 'react';
import { Button } from '../../../../components/Button.tsx';
import { EmptyState } from '../../../../components/EmptyState.tsx';
import { ErrorPanel } from '../../../../components/ErrorPanel.tsx';
import { Skeleton, SkeletonRows } from '../../../../components/Skeleton.tsx';
import { VirtualList } from '../../../../components/VirtualList.tsx';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { ItemSummary } from './ItemSummary.tsx';
import { type Filter, ITEMS_PER_PAGE, pageOptions } from './items.ts';
import { SelectionBar } from './SelectionBar.tsx';
import { useSelection } from './use-selection.ts';

const ROW_HEIGHT = 64;

type ItemListProps = { filter: Filter; onOpen: (itemId: number) => void; onReset: () => void };

/** All items that match, of which only those in sight are read and shown. */
export function ItemList({ filter, onOpen, onReset }: ItemListProps) {
  const { id } = useWorkspace();
  const [range, setRange] = useState<readonly [number, number]>([0, 0]);
  const selection = useSelection(filter);
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
  const failed = pages.find(({ isError }) => isError);
  return (
    <>
      {failed && (
        <ErrorPanel what="Some items could not be loaded" error={failed.error} onRetry={() => failed.refetch()} />
      )}
      <SelectionBar selection={selection} total={total} />
      <VirtualList
        label="Items"
        count={total}
        rowHeight={ROW_HEIGHT}
        onRange={onRange}
        className="rounded-xl border border-line"
        renderRow={(index) => {
          const item = itemAt(index);
          return item ? (
            <ItemRow
              item={item}
              isSelected={selection.selected.has(item.id)}
              onToggle={(isRange) => selection.toggle(item, index, isRange)}
              onOpen={onOpen}
            />
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
  /** `isRange`: also the items from the one before, as Shift and a click do everywhere. */
  onToggle: (isRange: boolean) => void;
  onOpen: (itemId: number) => void;
};

function ItemRow({ item, isSelected, onToggle, onOpen }: ItemRowProps) {
  return (
    <div
      className={`flex h-full items-center gap-3 border-b border-line px-3 [li:last-child>&]:border-b-0 ${isSelected ? 'bg-accent-soft' : ''}`}
    >
      <input
        type="checkbox"
        aria-label={`Select ${item.name}`}
        checked={isSelected}
        onChange={({ nativeEvent }) => onToggle(nativeEvent instanceof MouseEvent && nativeEvent.shiftKey)}
        className="size-4 shrink-0 accent-accent"
      />
      <ItemSummary item={item} onOpen={onOpen} />
    </div>
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
