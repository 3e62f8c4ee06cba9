/**
 * The colors that follow from that of a workspace, in light and in dark. Text has a contrast of at least 4.5 on what it
 * stands on, and buttons one of at least 3 against the page (WCAG 2.2 AA), whatever color somebody has chosen.
 */

type Rgb = readonly [number, number, number];
type Theme = 'light' | 'dark';

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];
const TEXT_CONTRAST = 4.5;
const CONTROL_CONTRAST = 3;
/** How much of the color is in the background of what is marked with it, and how much a button changes below a mouse. */
const SOFT = 0.12;
const HOVER = 0.12;
const STEP = 0.04;

/** `--page`, `--panel`, `--raised` and `--hover` of `styles.css`. */
export const surfaces: Readonly<Record<Theme, readonly string[]>> = {
  light: ['#ffffff', '#f6f7fb', '#ffffff', '#eceef5'],
  dark: ['#12141b', '#181b24', '#1d212c', '#262b38'],
};

/** The names of the tokens that have another color then. */
export const brandTokens = ['accent', 'accent-hover', 'accent-text', 'accent-soft', 'on-accent'] as const;
export type BrandToken = (typeof brandTokens)[number];

/** Returns the tokens of a theme as `#rrggbb`. `color` has this form too. */
export function toBrandColors(color: string, theme: Theme): Record<BrandToken, string> {
  const backgrounds = surfaces[theme].map(parse);
  const [raised = WHITE] = backgrounds.slice(2);
  const away = theme === 'light' ? BLACK : WHITE;
  const accent = setOff(parse(color), backgrounds, CONTROL_CONTRAST, away);
  // One of the two always has enough contrast.
  const onAccent = contrast(accent, WHITE) >= TEXT_CONTRAST ? WHITE : BLACK;
  const soft = mix(raised, accent, SOFT);
  return {
    accent: format(accent),
    'accent-hover': format(mix(accent, onAccent === WHITE ? BLACK : WHITE, HOVER)),
    'accent-text': format(setOff(accent, [...backgrounds, soft], TEXT_CONTRAST, away)),
    'accent-soft': format(soft),
    'on-accent': format(onAccent),
  };
}

/** The contrast of two colors, from 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio). */
export function contrastOf(one: string, other: string): number {
  return contrast(parse(one), parse(other));
}

/** Goes from a color as far as needed towards `away`, which has enough contrast itself. */
function setOff(color: Rgb, backgrounds: readonly Rgb[], min: number, away: Rgb): Rgb {
  for (let share = 0; share < 1; share += STEP) {
    const mixed = mix(color, away, share);
    if (backgrounds.every((background) => contrast(mixed, background) >= min)) return mixed;
  }
  return away;
}

function contrast(one: Rgb, other: Rgb): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: Rgb): number {
  const [red = 0, green = 0, blue = 0] = color.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Whole numbers, so that the contrast is that of the color that browsers show. */
function mix(from: Rgb, to: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(from[index] + (to[index] - from[index]) * share);
  return [part(0), part(1), part(2)];
}

function parse(color: string): Rgb {
  const value = Number.parseInt(color.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

function format(color: Rgb): string {
  return `#${color.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
