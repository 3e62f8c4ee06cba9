import { useEffect, useRef } from 'react';
import { useTexts } from '../languages/texts.ts';
import { watchLevel } from './audio-levels.ts';

/** Speech is around a tenth of what a microphone can measure: the root makes it visible. */
const toPart = (level: number): number => Math.min(1, Math.sqrt(level) * 1.6);

/** How loud the microphone is, so that people see that they are heard before they join. */
export function LevelMeter({ track }: { track: MediaStreamTrack | null }) {
  const { write } = useTexts();
  const meter = useRef<HTMLDivElement>(null);
  const bar = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const show = (level: number): void => {
      const part = toPart(level);
      // Ten times a second, so without rendering.
      if (bar.current !== null) bar.current.style.transform = `scaleX(${part.toFixed(2)})`;
      meter.current?.setAttribute('aria-valuenow', String(Math.round(part * 100)));
    };
    show(0);
    return track === null ? undefined : watchLevel(track, show);
  }, [track]);
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw `meter` in their own ways.
    <div
      ref={meter}
      role="meter"
      aria-label={write('device.level')}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={0}
      className="h-2 w-full overflow-hidden rounded-full bg-hover"
    >
      <span
        ref={bar}
        className="block h-full w-full origin-left scale-x-0 rtl:origin-right rounded-full bg-success-text"
      />
    </div>
  );
}
