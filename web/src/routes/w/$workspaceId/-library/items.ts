/** The items of the library, as the page reads and changes them. */
import type { LibraryItem, Outputs } from '@lynxroom/client';
import { client, trpc } from '../../../../lib/client.ts';
import { type Cache, useOptimisticMutation } from '../../../../lib/optimistic.ts';
import { offerUndo } from '../-trash/undo.ts';

export type Label = LibraryItem['labels'][number];
export type Filter = { search?: string; label?: number; sort?: 'name' | 'size'; order?: 'asc' };
type ItemPage = Outputs['library']['list'];

/** How many items are read at once. */
export const ITEMS_PER_PAGE = 100;

export function pageOptions(id: number, filter: Filter, page: number) {
  return trpc.library.list.queryOptions({ id, ...filter, limit: ITEMS_PER_PAGE, offset: page * ITEMS_PER_PAGE });
}

/** Shows a change of these items in every list, and in the panel. */
function changeItems(cache: Cache, id: number, itemIds: readonly number[], change: (item: LibraryItem) => LibraryItem) {
  const changed = (item: LibraryItem) => (itemIds.includes(item.id) ? change(item) : item);
  cache.updateAll<ItemPage>(trpc.library.list.pathFilter(), (page) => ({ ...page, items: page.items.map(changed) }));
  for (const itemId of itemIds) {
    cache.update(trpc.library.read.queryKey({ id, itemId }), ({ item }) => ({ item: change(item) }));
  }
}

export function useUpdateItem(id: number) {
  return useOptimisticMutation({
    mutationFn: (input: { itemId: number; name?: string; description?: string }) =>
      client.library.update.mutate({ id, ...input }),
    apply: (cache, { itemId, ...changes }) => changeItems(cache, id, [itemId], (item) => ({ ...item, ...changes })),
    failure: 'Could not change the item',
  });
}

/** Assigns a label to items, or removes it from them. */
export function useSetLabel(id: number) {
  return useOptimisticMutation({
    mutationFn: ({ itemIds, label, isSet }: { itemIds: readonly number[]; label: Label; isSet: boolean }) =>
      client.library.labelMany.mutate({
        id,
        item_ids: [...itemIds],
        ...(isSet ? { add_label_ids: [label.id] } : { remove_label_ids: [label.id] }),
      }),
    apply(cache, { itemIds, label, isSet }) {
      changeItems(cache, id, itemIds, (item) => {
        const others = item.labels.filter((one) => one.id !== label.id);
        return { ...item, labels: isSet ? [...others, label] : others };
      });
    },
    failure: 'Could not change the labels',
  });
}

/** Moves items to the trash, all or none. They leave the lists at once. */
export function useDeleteItems(id: number) {
  return useOptimisticMutation({
    mutationFn: (itemIds: readonly number[]) => client.trash.addItems.mutate({ id, item_ids: [...itemIds] }),
    apply(cache, itemIds) {
      cache.updateAll<ItemPage>(trpc.library.list.pathFilter(), (page) => {
        const items = page.items.filter((item) => !itemIds.includes(item.id));
        return { ...page, items, total: page.total - (page.items.length - items.length) };
      });
    },
    failure: 'Nothing was deleted',
    onSuccess: ({ entries }) => offerUndo(id, entries),
  });
}
