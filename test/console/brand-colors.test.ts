/** The text on the color of a workspace can be read, whatever the color is. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contrastOf, surfaces, toBrandColors } from '../../web/src/lib/brand-colors.ts';

const LEVELS = [0, 51, 102, 119, 153, 204, 255];

/** All mixtures of some levels, with black, white, and the greys on which neither black nor white is plain. */
const colors = LEVELS.flatMap((red) =>
  LEVELS.flatMap((green) =>
    LEVELS.map((blue) => `#${[red, green, blue].map((level) => level.toString(16).padStart(2, '0')).join('')}`),
  ),
);

test.each(['light', 'dark'] as const)('text on and in every color has a contrast of 4.5 in %s', (theme) => {
  const faults: string[] = [];
  for (const color of colors) {
    const brand = toBrandColors(color, theme);
    const require = (name: string, text: string, backgrounds: readonly string[], min: number) => {
      const lowest = Math.min(...backgrounds.map((background) => contrastOf(text, background)));
      if (lowest < min) faults.push(`${color}: ${name} ${lowest}`);
    };
    require('on a button', brand['on-accent'], [brand.accent, brand['accent-hover']], 4.5);
    require('in a link', brand['accent-text'], [...surfaces[theme], brand['accent-soft']], 4.5);
    require('a button', brand.accent, surfaces[theme], 3);
  }
  expect(faults).toEqual([]);
});

test('a color that is plain enough stays as it is', () => {
  expect(toBrandColors('#0f766e', 'light')).toMatchObject({ accent: '#0f766e', 'on-accent': '#ffffff' });
  expect(toBrandColors('#facc15', 'dark')).toMatchObject({ accent: '#facc15', 'on-accent': '#000000' });
});

test('the backgrounds are those of the stylesheet', () => {
  const styles = readFileSync('web/src/styles.css', 'utf8');
  const [light = '', dark = ''] = styles.split('\n.dark {');
  const read = (text: string) =>
    ['page', 'panel', 'raised', 'hover'].map((name) => new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(text)?.[1]);
  expect({ light: read(light), dark: read(dark) }).toEqual(surfaces);
});
