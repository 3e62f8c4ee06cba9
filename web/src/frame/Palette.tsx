import { Dialog } from '@base-ui/react/dialog';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import { useWorkspaces, workspaceOptions } from '../lib/workspace.ts';
import { type PaletteEntry, sources } from './palette-sources.ts';

const DELAY_MS = 150;

/** Finds pages, workspaces and more by their names: type, choose with the arrows, and press Enter. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const navigate = useNavigate();
  const { entries, isReading } = useEntries(useDelayed(text));
  const current = entries[Math.min(active, entries.length - 1)];

  function choose(entry: PaletteEntry | undefined): void {
    if (entry === undefined) return;
    onClose();
    void navigate(entry.link);
  }

  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') choose(current);
    if (step === undefined || entries.length === 0) return;
    event.preventDefault();
    const next = (Math.min(active, entries.length - 1) + step + entries.length) % entries.length;
    setActive(next);
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
  }

  return (
    <Dialog.Root open onOpenChange={onClose}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-30 bg-(--backdrop)" />
        <Dialog.Popup className="appear fixed top-[12vh] left-1/2 z-40 flex max-h-[70vh] w-[calc(100vw-2rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-2xl border border-line bg-raised shadow-raised">
          <Dialog.Title className="sr-only">Go to</Dialog.Title>
          <input
            role="combobox"
            aria-label="Go to"
            aria-expanded
            aria-controls={`${id}-list`}
            aria-activedescendant={current && `${id}-${entries.indexOf(current)}`}
            autoComplete="off"
            spellCheck={false}
            placeholder="Go to a page, workspace, room or file …"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setActive(0);
            }}
            onKeyDown={onKey}
            className="h-13 shrink-0 border-b border-line bg-transparent px-5 outline-none placeholder:text-muted"
          />
          <div id={`${id}-list`} role="listbox" aria-label="Found" className="overflow-y-auto p-2">
            {entries.map((entry, index) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the keys go to the field, which keeps the focus.
              <div
                key={entry.key}
                id={`${id}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={entry === current}
                onClick={() => choose(entry)}
                onPointerMove={() => setActive(index)}
                className="flex min-h-10 cursor-pointer items-center justify-between gap-4 rounded-lg px-3 py-1.5 aria-selected:bg-hover"
              >
                {entry.label}
                <span className="shrink-0 text-sm text-muted">{entry.kind}</span>
              </div>
            ))}
          </div>
          <p role="status" className={entries.length === 0 ? 'px-5 pb-5 text-muted' : 'sr-only'}>
            {entries.length > 0 ? `${entries.length} found` : isReading ? 'Searching …' : 'Nothing found'}
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** What all sources find. A source that fails finds nothing, so that the others still work. */
function useEntries(text: string): { entries: PaletteEntry[]; isReading: boolean } {
  const queryClient = useQueryClient();
  const { workspaceId } = useParams({ strict: false });
  const workspaces = useWorkspaces();
  const { data = [], isFetching } = useQuery({
    queryKey: ['palette', workspaceId ?? null, workspaces, text],
    async queryFn({ signal }) {
      const read = workspaceId && queryClient.getQueryData(workspaceOptions(Number(workspaceId)).queryKey);
      const scope = { workspace: read ? read.workspace : null, workspaces, signal };
      const found = await Promise.allSettled(sources.map(async (find) => find(text, scope)));
      return found.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    },
    placeholderData: keepPreviousData,
    staleTime: 0,
  });
  return { entries: data, isReading: isFetching };
}

/** The text, once it has not changed for a moment. */
function useDelayed(text: string): string {
  const [delayed, setDelayed] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(text), DELAY_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return delayed;
}
