import { useState } from 'react';
import { Dialog } from '../components/Dialog.tsx';
import { areShortcutsOn, SHORTCUT_TEXTS, setShortcutsOn } from './shortcuts.ts';

/** The keys of a meeting, and a way to switch them off. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const [isOn, setIsOn] = useState(areShortcutsOn);
  return (
    <Dialog onClose={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2">
        {Object.entries(SHORTCUT_TEXTS).map(([key, text]) => (
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
