/** Which items of the library are selected. */
import type { LibraryItem } from '@lynxroom/client';
import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { showError } from '../../../../lib/toasts.ts';
import { useWorkspaceId } from '../../../../lib/workspace.ts';
import { type Filter, ITEMS_PER_PAGE, pageOptions } from './items.ts';

/** As many as one call changes. */
export const MAX_SELECTED = 100;

export type Selection = {
  selected: ReadonlyMap<number, LibraryItem>;
  /** Selects an item, or no longer. With `isRange`, also all between it and the one before. */
  toggle(item: LibraryItem, index: number, isRange: boolean): void;
  /** Selects the first `MAX_SELECTED` items that match the filter. */
  selectAll(): void;
  clear(): void;
};

export function useSelection(filter: Filter): Selection {
  const id = useWorkspaceId();
  const queryClient = useQueryClient();
  const [selected, setSelected] = useState<ReadonlyMap<number, LibraryItem>>(new Map());
  /** Where a range begins, in the list with the filter and order that it had. */
  const anchor = useRef<{ index: number; list: string } | null>(null);
  const list = JSON.stringify(filter);

  function set(items: readonly LibraryItem[], isSelected: boolean): void {
    setSelected((before) => {
      const next = new Map(before);
      for (const item of items) {
        if (!isSelected) next.delete(item.id);
        else if (next.size < MAX_SELECTED) next.set(item.id, item);
      }
      return next;
    });
  }

  /** The items from one place in the list to another, of which some may not have been in sight yet. */
  async function readItems(first: number, last: number): Promise<LibraryItem[]> {
    const [from, to] = [Math.floor(first / ITEMS_PER_PAGE), Math.floor(last / ITEMS_PER_PAGE)];
    const pages = await Promise.all(
      Array.from({ length: to - from + 1 }, (_, page) =>
        queryClient.ensureQueryData(pageOptions(id, filter, from + page)),
      ),
    );
    return pages.flatMap(({ items }) => items).slice(first - from * ITEMS_PER_PAGE, last + 1 - from * ITEMS_PER_PAGE);
  }

  /** Both places are included. More than `MAX_SELECTED` from the first one would not be selected. */
  function setRange(from: number, to: number, isSelected: boolean): void {
    const [first, last] =
      from < to ? [from, Math.min(to, from + MAX_SELECTED - 1)] : [Math.max(to, from - MAX_SELECTED + 1), from];
    readItems(first, last).then(
      (items) => set(items, isSelected),
      (error: unknown) => showError('The items could not be selected', error),
    );
  }

  return {
    selected,
    toggle(item, index, isRange) {
      const isSelected = !selected.has(item.id);
      const from = anchor.current?.list === list ? anchor.current.index : null;
      anchor.current = { index, list };
      if (isRange && from !== null) setRange(from, index, isSelected);
      else set([item], isSelected);
    },
    selectAll: () => setRange(0, MAX_SELECTED - 1, true),
    clear() {
      anchor.current = null;
      setSelected(new Map());
    },
  };
}
