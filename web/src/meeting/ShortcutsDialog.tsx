import { KeysDialog } from '../components/KeysDialog.tsx';
import { useTexts } from '../languages/texts.ts';
import { SHORTCUT_TEXTS, type ShortcutKey } from './shortcuts.ts';

/** The keys of a meeting, and a way to switch them off. */
export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  const { write } = useTexts();
  // `as`: the keys are those of the texts.
  const entries = Object.entries(SHORTCUT_TEXTS) as [ShortcutKey, (typeof SHORTCUT_TEXTS)[ShortcutKey]][];
  const keys = Object.fromEntries(entries.map(([key, text]) => [key, write(text)]));
  return <KeysDialog keys={keys} title={write('page.keys')} choice={write('page.useKeys')} onClose={onClose} />;
}
