import { useState } from 'react';
import { areShortcutsOn, setShortcutsOn } from '../lib/single-keys.ts';
import { Dialog } from './Dialog.tsx';

/** The keys of a page with what they do, and a way to switch them off. */
export function KeysDialog({ keys, onClose }: { keys: Readonly<Record<string, string>>; onClose: () => void }) {
  const [isOn, setIsOn] = useState(areShortcutsOn);
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2">
        {Object.entries(keys).map(([key, text]) => (
          <div key={key} className="contents">
            <dt>
              <kbd className="inline-block min-w-8 rounded-md border border-control-line bg-panel px-2 py-0.5 text-center font-mono uppercase">
                {key}
              </kbd>
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={isOn}
          onChange={({ target }) => {
            setIsOn(target.checked);
            setShortcutsOn(target.checked);
          }}
        />
        Use these keys. They do nothing while you type
      </label>
    </Dialog>
  );
}
