import { KeysDialog } from '../components/KeysDialog.tsx';
import { SHORTCUT_TEXTS } from './shortcuts.ts';

/** The keys of a meeting, and a way to switch them off. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return <KeysDialog keys={SHORTCUT_TEXTS} onClose={onClose} />;
}
