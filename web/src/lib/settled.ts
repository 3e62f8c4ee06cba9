/** When a search starts while somebody types. */
import { useEffect, useRef, useState } from 'react';

/** Keystrokes that follow each other more quickly than this are one burst, such as a held Backspace key. */
const BURST_MS = 50;
/** Joins the keystrokes of a burst. A longer delay would be felt, because an answer takes only a few milliseconds. */
const DELAY_MS = 25;

/** The text to search for: the typed text at once after a single keystroke, and shortly after the last one of a burst. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  const lastKeyAt = useRef(0);
  useEffect(() => {
    if (text === settled) return;
    const isBurst = performance.now() - lastKeyAt.current < BURST_MS;
    lastKeyAt.current = performance.now();
    if (!isBurst) return setSettled(text);
    const timer = setTimeout(() => setSettled(text), DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, settled]);
  return settled;
}
