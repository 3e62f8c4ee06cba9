import { useQuery } from '@tanstack/react-query';
import { Tag, Trash2 } from 'lucide-react';
import { Button } from '../../../../components/Button.tsx';
import { Menu, MenuItem } from '../../../../components/Menu.tsx';
import { formatNumber } from '../../../../lib/format.ts';
import { useWorkspace } from '../../../../lib/workspace.ts';
import { useDeleteItems, useSetLabel } from './items.ts';
import { LabelTag, NoLabels } from './LabelTag.tsx';
import { labelsOptions } from './labels.ts';
import { MAX_SELECTED, type Selection } from './use-selection.ts';

/** Selects all items, and does something with those that are selected. It stays in sight while the list scrolls. */
export function SelectionBar({ selection, total }: { selection: Selection; total: number }) {
  const { selected, selectAll, clear } = selection;
  const { id } = useWorkspace();
  const labels = useQuery(labelsOptions(id));
  const setLabel = useSetLabel(id);
  const deleteItems = useDeleteItems(id);
  const itemIds = [...selected.keys()];
  const isOnAll = (labelId: number) =>
    [...selected.values()].every((item) => item.labels.some((label) => label.id === labelId));
  const isSome = itemIds.length > 0;
  const isAll = isSome && itemIds.length >= Math.min(total, MAX_SELECTED);
  return (
    <div className="sticky top-14 z-10 mb-2 flex min-h-11 flex-wrap items-center gap-2 bg-page py-1 lg:top-0">
      <input
        type="checkbox"
        aria-label="Select all items"
        checked={isAll}
        ref={(box) => {
          if (box !== null) box.indeterminate = isSome && !isAll;
        }}
        onChange={() => (isAll ? clear() : selectAll())}
        className="ml-3.25 size-4 shrink-0 accent-accent"
      />
      <p role="status" className={isSome ? 'mr-2 font-medium' : 'text-sm text-muted'}>
        {isSome ? describeSelected(itemIds.length) : describeTotal(total)}
      </p>
      {isSome && (
        <>
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
                    clear();
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
          <Button
            size="small"
            icon={<Trash2 aria-hidden size={16} />}
            onClick={() => {
              deleteItems.mutate(itemIds);
              clear();
            }}
          >
            Delete
          </Button>
          <Button size="small" tone="quiet" onClick={clear}>
            Clear the selection
          </Button>
        </>
      )}
    </div>
  );
}

function describeSelected(count: number): string {
  return `${count} selected${count === MAX_SELECTED ? ' (the maximum)' : ''}`;
}

function describeTotal(total: number): string {
  return total === 1 ? '1 item' : `${formatNumber(total)} items`;
}
