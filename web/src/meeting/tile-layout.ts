/** Where the tiles of a meeting are. Pure: it knows sizes and counts, and nothing of what a tile shows. */

export type Size = { width: number; height: number };
export type Box = Size & { x: number; y: number };

export type TileLayout = {
  /** The shared screen, or null if nobody shares one. */
  stage: Box | null;
  /** One box for each person, in the order of the people. */
  tiles: Box[];
};

const GAP = 8;
/** Below this width, boxes are closer together. */
const NARROW = 480;
const NARROW_GAP = 4;

/**
 * A tile is not narrower than this, so that most of a wide picture stays visible. On an upright screen, faces are large
 * rather than whole.
 */
const MIN_ASPECT = { wide: 1.25, upright: 0.75 };
const MAX_ASPECT = 16 / 9;
const SCREEN_ASPECT = 16 / 9;

/** How much of the area the tiles beside a shared screen get. */
const STRIP_PART = 0.2;
const MIN_STRIP = 112;
const MAX_STRIP = 420;

/**
 * Fills an area with tiles, and with a shared screen beside them. The boxes are inside of the area and do not overlap.
 * Tiles are equally large, and as large as possible, in rows of which the last is centred. All numbers are whole CSS
 * pixels.
 */
export function layOutTiles(area: Size, people: number, hasStage: boolean): TileLayout {
  const whole = { x: 0, y: 0, width: Math.floor(area.width), height: Math.floor(area.height) };
  const gap = whole.width < NARROW ? NARROW_GAP : GAP;
  if (!hasStage) return { stage: null, tiles: fillWithTiles(whole, people, gap) };
  if (people === 0) return { stage: whole, tiles: [] };
  const [beside, below] = [splitSideways(whole, gap), splitDownwards(whole, gap)];
  const { stage, strip } = screenSize(beside.stage) >= screenSize(below.stage) ? beside : below;
  return { stage, tiles: fillWithTiles(strip, people, gap, stage.height) };
}

/** The grid with the largest tiles. */
function fillWithTiles(area: Box, count: number, gap: number, maxHeight = area.height): Box[] {
  if (count === 0) return [];
  const grids = Array.from({ length: count }, (_, index) => toGrid(area, count, index + 1, gap, maxHeight));
  const { columns, tile } = grids.reduce((best, grid) => (sizeOf(grid.tile) > sizeOf(best.tile) ? grid : best));
  const rows = Math.ceil(count / columns);
  const top = area.y + centre(area.height, rows * (tile.height + gap) - gap);
  return Array.from({ length: count }, (_, index) => {
    const row = Math.floor(index / columns);
    const inRow = Math.min(columns, count - row * columns);
    const left = area.x + centre(area.width, inRow * (tile.width + gap) - gap);
    return { x: left + (index % columns) * (tile.width + gap), y: top + row * (tile.height + gap), ...tile };
  });
}

type Grid = { columns: number; tile: Size };

function toGrid(area: Size, count: number, columns: number, gap: number, maxHeight: number): Grid {
  const rows = Math.ceil(count / columns);
  const minAspect = area.width > area.height ? MIN_ASPECT.wide : MIN_ASPECT.upright;
  const width = Math.max(0, (area.width - gap * (columns - 1)) / columns);
  const height = Math.max(0, Math.min(maxHeight, (area.height - gap * (rows - 1)) / rows));
  const tile = {
    width: Math.floor(Math.min(width, height * MAX_ASPECT)),
    height: Math.floor(Math.min(height, width / minAspect)),
  };
  return { columns, tile };
}

function splitSideways(area: Box, gap: number): { stage: Box; strip: Box } {
  const width = clamp(Math.floor(area.width * STRIP_PART), MIN_STRIP, MAX_STRIP);
  const stageWidth = Math.max(0, area.width - width - gap);
  return {
    stage: { ...area, width: stageWidth },
    strip: { ...area, x: area.x + stageWidth + gap, width: Math.min(width, area.width) },
  };
}

/** On an upright screen, a shared screen needs no more height than its width allows, and the tiles get the rest. */
function splitDownwards(area: Box, gap: number): { stage: Box; strip: Box } {
  const least = clamp(Math.floor(area.height * STRIP_PART), MIN_STRIP, MAX_STRIP);
  const stageHeight = Math.max(0, Math.min(Math.floor(area.width / SCREEN_ASPECT), area.height - least - gap));
  const strip = { ...area, y: area.y + stageHeight + gap, height: Math.max(0, area.height - stageHeight - gap) };
  return { stage: { ...area, height: stageHeight }, strip };
}

/** How large a screen of the usual shape is inside of the box. */
function screenSize({ width, height }: Size): number {
  return Math.min(width, height * SCREEN_ASPECT);
}

function sizeOf({ width, height }: Size): number {
  return width * height;
}

function centre(room: number, length: number): number {
  return Math.max(0, Math.floor((room - length) / 2));
}

function clamp(value: number, min: number, max: number): number {
  return Math.max(min, Math.min(max, value));
}
