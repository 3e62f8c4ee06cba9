import { Dialog } from '@base-ui/react/dialog';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { type KeyboardEvent, useId, useState } from 'react';
import { client } from '../lib/client.ts';
import { useSettled } from '../lib/settled.ts';
import { workspaceOptions } from '../lib/workspace.ts';
import { useNamedWorkspaces } from './named-workspaces.ts';
import { type Found, groups, type PaletteEntry, sources, toEntries } from './palette-sources.ts';
import { useSignOut } from './use-sign-out.ts';

const MIN_SEARCH_LENGTH = 2;
const MAX_SEARCH_LENGTH = 200;
/** How many recordings, contacts and members are shown. */
const MAX_FOUND = 5;

/** Finds pages, actions, and what is in the workspace, by their names: type, choose with the arrows, and press Enter. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const id = useId();
  const navigate = useNavigate();
  const { entries, isSearching, isFailed } = useEntries(text.trim());
  const current = entries[Math.min(active, entries.length - 1)];

  function choose(entry: PaletteEntry | undefined): void {
    if (entry === undefined) return;
    onClose();
    const { target } = entry;
    if (typeof target === 'function') target();
    else if (typeof target === 'string') location.assign(target);
    else void navigate(target);
  }

  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') {
      // The focus goes back to where it was, and a button there would take the key as a click.
      event.preventDefault();
      choose(current);
    }
    if (step === undefined || entries.length === 0) return;
    event.preventDefault();
    const next = (Math.min(active, entries.length - 1) + step + entries.length) % entries.length;
    setActive(next);
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: 'nearest' });
  }

  function renderEntry(entry: PaletteEntry, index: number) {
    return (
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
        <span className="min-w-0 wrap-anywhere">{entry.label}</span>
        <span className="max-w-1/2 shrink-0 text-sm wrap-anywhere text-muted">{entry.hint}</span>
      </div>
    );
  }

  const nothing = isFailed ? '' : 'Nothing found';
  const status = isSearching ? 'Searching …' : entries.length > 0 ? `${entries.length} found` : nothing;
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
            maxLength={MAX_SEARCH_LENGTH}
            placeholder="Go to a page, room, file or person …"
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setActive(0);
            }}
            onKeyDown={onKey}
            className="h-13 shrink-0 border-b border-line bg-transparent px-5 outline-none placeholder:text-muted"
          />
          <div id={`${id}-list`} role="listbox" aria-label="Found" className="overflow-y-auto p-2">
            {groups
              .filter((group) => entries.some((entry) => entry.group === group))
              .map((group) => (
                // biome-ignore lint/a11y/useSemanticElements: a fieldset is not a group of options.
                <div key={group} role="group" aria-label={group}>
                  <div aria-hidden className="px-3 pt-2 pb-1 text-sm font-medium text-muted">
                    {group}
                  </div>
                  {entries.map((entry, index) => entry.group === group && renderEntry(entry, index))}
                </div>
              ))}
          </div>
          {isFailed && (
            <p role="alert" className="px-5 pb-4 text-danger-text">
              The workspace could not be searched
            </p>
          )}
          <p role="status" className={isSearching || status === 'Nothing found' ? 'px-5 pb-4 text-muted' : 'sr-only'}>
            {status}
          </p>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type Result = {
  entries: PaletteEntry[];
  isSearching: boolean;
  /** The search on the service failed. The entries that the browser already has are still found. */
  isFailed: boolean;
};

/** What matches a text: pages and workspaces at once, and what the service finds in the workspace of the page. */
function useEntries(text: string): Result {
  const queryClient = useQueryClient();
  const { workspaceId } = useParams({ strict: false });
  const workspaces = useNamedWorkspaces();
  const read = workspaceId && queryClient.getQueryData(workspaceOptions(Number(workspaceId)).queryKey);
  const workspace = read ? read.workspace : null;
  const signOut = useSignOut();
  const local = sources.flatMap((find) => find(text, { workspace, workspaces, signOut }));

  const search = useSettled(text);
  const id = workspace?.id ?? 0;
  // A search for an earlier text is cancelled.
  const { data, isLoading, isError } = useQuery({
    queryKey: ['palette', id, search],
    queryFn: ({ signal }) => searchIn(id, search, signal),
    enabled: id > 0 && search.length >= MIN_SEARCH_LENGTH,
    staleTime: 0,
    retry: false,
    networkMode: 'always',
  });
  if (id === 0 || text.length < MIN_SEARCH_LENGTH) return { entries: local, isSearching: false, isFailed: false };
  // What was found for an earlier text is not shown any more.
  if (search !== text) return { entries: local, isSearching: true, isFailed: false };
  return { entries: data ? [...local, ...toEntries(id, data)] : local, isSearching: isLoading, isFailed: isError };
}

async function searchIn(id: number, search: string, signal: AbortSignal): Promise<Found> {
  const [found, { recordings }, { contacts }, { members }] = await Promise.all([
    client.workspaces.search.query({ id, search }, { signal }),
    client.recordings.listInWorkspace.query({ id, search, limit: MAX_FOUND }, { signal }),
    client.contacts.list.query({ id, search, limit: MAX_FOUND }, { signal }),
    client.members.list.query({ id, search, limit: MAX_FOUND }, { signal }),
  ]);
  return { ...found, recordings, contacts, members };
}
