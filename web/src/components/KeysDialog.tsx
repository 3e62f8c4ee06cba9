import { useState } from 'react';
import { areShortcutsOn, setShortcutsOn } from '../lib/single-keys.ts';
import { Dialog } from './Dialog.tsx';

type KeysDialogProps = {
  keys: Readonly<Record<string, string>>;
  title?: string;
  /** The label of the choice. */
  choice?: string;
  onClose: () => void;
};

/** The keys of a page with what they do, and a way to switch them off. */
export function KeysDialog({
  keys,
  title = 'Keyboard shortcuts',
  choice = 'Use these keys. They do nothing while you type',
  onClose,
}: KeysDialogProps) {
  const [isOn, setIsOn] = useState(areShortcutsOn);
  return (
    <Dialog onClose={onClose} title={title}>
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
        {choice}
      </label>
    </Dialog>
  );
}
