/**
 * The diagrams of the guides. Mermaid needs a browser and inline styles, so `scripts/draw-diagrams.ts` draws them in
 * advance, once with light and once with dark colors. A drawing has the hash of its source in its name: a diagram that
 * has changed since has no drawing, and its guide shows the source.
 */
import { createHash } from 'node:crypto';

export const DIAGRAMS_DIR = 'docs/diagrams';

export const diagramThemes = ['light', 'dark'] as const;
export type DiagramTheme = (typeof diagramThemes)[number];

/** A block of Mermaid in a guide. The first group is the source. */
export const MERMAID_BLOCK = /^```mermaid\n(.*?)\n```$/gms;

/** Returns the path in the repository of the drawing of a diagram. */
export function diagramPath(source: string, theme: DiagramTheme): string {
  const hash = createHash('sha256').update(source.trim()).digest('hex').slice(0, 12);
  return `${DIAGRAMS_DIR}/${hash}-${theme}.svg`;
}
