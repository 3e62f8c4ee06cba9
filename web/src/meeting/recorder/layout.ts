/** Where the tiles of a recording are. Pure: it knows sizes and counts only. */

export type Size = { width: number; height: number };
export type Box = Size & { x: number; y: number };

export type Layout = {
  /** The large place of a shared screen; null without one. */
  screen: Box | null;
  tiles: Box[];
};

/** More would be too small to recognize anybody. */
export const MAX_TILES = 25;
const GAP = 8;
const ASPECT = 16 / 9;
/** The share of the width that a shared screen gets beside tiles. */
const SCREEN_SHARE = 0.8;

/** Places `tileCount` tiles, at most `MAX_TILES`, and a shared screen beside them. All boxes have whole pixels. */
export function layOut(stage: Size, tileCount: number, hasScreen: boolean): Layout {
  const count = Math.min(tileCount, MAX_TILES);
  const whole = { x: 0, y: 0, ...stage };
  if (!hasScreen) return { screen: null, tiles: fillGrid(whole, count) };
  if (count === 0) return { screen: whole, tiles: [] };
  const screenWidth = Math.floor(stage.width * SCREEN_SHARE);
  const screen = { x: 0, y: 0, width: screenWidth, height: stage.height };
  const rest = { x: screenWidth, y: 0, width: stage.width - screenWidth, height: stage.height };
  return { screen, tiles: fillGrid(rest, count) };
}

/** Tiles of equal size, as large as possible, in rows that are centered. */
function fillGrid(area: Box, count: number): Box[] {
  if (count === 0) return [];
  const { columns, rows, tile } = chooseGrid(area, count);
  const top = area.y + (area.height - rows * (tile.height + GAP) + GAP) / 2;
  return Array.from({ length: count }, (_, index) => {
    const row = Math.floor(index / columns);
    const inRow = Math.min(columns, count - row * columns);
    const left = area.x + (area.width - inRow * (tile.width + GAP) + GAP) / 2;
    const x = left + (index % columns) * (tile.width + GAP);
    return { x: Math.round(x), y: Math.round(top + row * (tile.height + GAP)), ...tile };
  });
}

function chooseGrid(area: Box, count: number): { columns: number; rows: number; tile: Size } {
  const grids = Array.from({ length: count }, (_, index) => {
    const columns = index + 1;
    const rows = Math.ceil(count / columns);
    const width = (area.width - GAP * (columns + 1)) / columns;
    const height = (area.height - GAP * (rows + 1)) / rows;
    const tile = { width: Math.floor(Math.min(width, height * ASPECT)), height: 0 };
    tile.height = Math.floor(tile.width / ASPECT);
    return { columns, rows, tile };
  });
  return grids.reduce((best, grid) => (grid.tile.width > best.tile.width ? grid : best));
}

/** The part of a picture that fills a box of another shape, without what sticks out. */
export function cropToFill(picture: Size, box: Size): Box {
  const scale = Math.max(box.width / picture.width, box.height / picture.height);
  const width = box.width / scale;
  const height = box.height / scale;
  return { x: (picture.width - width) / 2, y: (picture.height - height) / 2, width, height };
}

/** The part of a box that a whole picture fills. */
export function fitInside(picture: Size, box: Box): Box {
  const scale = Math.min(box.width / picture.width, box.height / picture.height);
  const width = Math.round(picture.width * scale);
  const height = Math.round(picture.height * scale);
  const x = Math.round(box.x + (box.width - width) / 2);
  return { x, y: Math.round(box.y + (box.height - height) / 2), width, height };
}

/** Shortens a text with an ellipsis until `measure` says that it is at most `maxWidth` wide. */
export function shortenText(text: string, maxWidth: number, measure: (text: string) => number): string {
  if (measure(text) <= maxWidth) return text;
  const characters = Array.from(text);
  while (characters.length > 0 && measure(`${characters.join('')}…`) > maxWidth) characters.pop();
  return `${characters.join('').trimEnd()}…`;
}
