/** What the player adds to the controls of the browser: the speed, the keyboard, and what this device remembers. */
import { type KeyboardEvent, type RefObject, useEffect, useId, useState } from 'react';
import { local } from '../lib/storage.ts';
import {
  findKeyAction,
  findNextSpeed,
  KEY_HELP,
  type PlayerKeyAction,
  type PlayerSettings,
  parsePlayerSettings,
  SPEEDS,
} from './player-keys.ts';

const SETTINGS_KEY = 'lynxroom.player';

export type Player = {
  speed: number;
  /** What a key has just done, for screen readers and for those who do not see the controls. */
  status: string;
  setSpeed(speed: number): void;
  /** Props of the video element. */
  handlers: {
    onKeyDownCapture(event: KeyboardEvent): void;
    onVolumeChange(): void;
    onRateChange(): void;
  };
};

/** Controls a video element. `isShown` is whether there is one: it gets the settings each time that it appears. */
export function usePlayer(video: RefObject<HTMLVideoElement | null>, isShown: boolean): Player {
  const [speed, setShownSpeed] = useState(() => readSettings().speed);
  const [status, setStatus] = useState('');
  useEffect(() => {
    const { current } = video;
    if (current === null || !isShown) return;
    const settings = readSettings();
    current.volume = settings.volume;
    current.muted = settings.isMuted;
    changeSpeed(current, settings.speed);
  }, [video, isShown]);

  function save(): void {
    const { current } = video;
    if (current === null) return;
    const settings: PlayerSettings = {
      speed: current.playbackRate,
      volume: current.volume,
      isMuted: current.muted,
    };
    local.write(SETTINGS_KEY, JSON.stringify(settings));
  }

  return {
    speed,
    status,
    setSpeed: (next) => video.current && changeSpeed(video.current, next),
    handlers: {
      onKeyDownCapture(event) {
        const { current } = video;
        const action = findKeyAction(event.key);
        const isShortcut = event.altKey || event.ctrlKey || event.metaKey;
        if (current === null || action === null || isShortcut) return;
        // Browsers have keys of their own, which would act too, in Chromium even for an event whose default is prevented.
        event.preventDefault();
        event.stopPropagation();
        setStatus(perform(current, action));
      },
      onVolumeChange: save,
      onRateChange() {
        const { current } = video;
        if (current === null) return;
        // The menu of the browser has other speeds too. A video that is loaded again keeps the last one.
        current.defaultPlaybackRate = current.playbackRate;
        setShownSpeed(current.playbackRate);
        save();
      },
    },
  };
}

/** The choice of the speed, and the help for the keyboard. */
export function PlayerBar({ speed, status, setSpeed }: Pick<Player, 'speed' | 'status' | 'setSpeed'>) {
  const id = useId();
  const options = SPEEDS.some((one) => one === speed) ? SPEEDS : [...SPEEDS, speed].sort((one, other) => one - other);
  return (
    <div className="flex flex-wrap items-start gap-x-4 gap-y-2 text-sm">
      <span className="flex items-center gap-2">
        <label htmlFor={id}>Speed</label>
        <select
          id={id}
          value={speed}
          onChange={(event) => setSpeed(Number(event.target.value))}
          className="h-8 rounded-lg border border-control-line bg-raised px-2"
        >
          {options.map((option) => (
            <option key={option} value={option}>
              {formatSpeed(option)}
            </option>
          ))}
        </select>
      </span>
      <details className="grow">
        <summary className="flex h-8 w-fit cursor-pointer items-center">Keyboard shortcuts</summary>
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 text-muted">
          {KEY_HELP.map(([keys, what]) => (
            <div key={keys} className="contents">
              <dt>{keys}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </details>
      <span role="status" className="flex h-8 items-center text-muted">
        {status}
      </span>
    </div>
  );
}

function readSettings(): PlayerSettings {
  return parsePlayerSettings(local.read(SETTINGS_KEY));
}

function changeSpeed(video: HTMLVideoElement, speed: number): void {
  video.defaultPlaybackRate = speed;
  video.playbackRate = speed;
}

function formatSpeed(speed: number): string {
  return `${speed}×`;
}

/** Returns what was done, as text. Nothing for what shows by itself. */
function perform(video: HTMLVideoElement, action: PlayerKeyAction): string {
  const { duration } = video;
  const end = Number.isFinite(duration) ? duration : video.currentTime;
  switch (action.kind) {
    case 'toggle-play':
      if (video.paused) void video.play().catch(() => {});
      else video.pause();
      return video.paused ? 'Paused' : 'Playing';
    case 'toggle-mute':
      video.muted = !video.muted;
      return video.muted ? 'Muted' : 'Sound on';
    case 'toggle-fullscreen':
      // Phones have full screen for videos only, by their own button.
      if (document.fullscreenElement === null) void video.requestFullscreen?.().catch(() => {});
      else void document.exitFullscreen().catch(() => {});
      return '';
    case 'move':
      video.currentTime = clamp(video.currentTime + action.seconds, end);
      return '';
    case 'go':
      video.currentTime = action.share * end;
      return '';
    case 'volume':
      video.volume = clamp(Math.round((video.volume + action.step) * 100) / 100, 1);
      video.muted = false;
      return `Volume ${Math.round(video.volume * 100)} %`;
    case 'speed':
      changeSpeed(video, findNextSpeed(video.playbackRate, action.direction));
      return `Speed ${formatSpeed(video.playbackRate)}`;
  }
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(0, value), max);
}
