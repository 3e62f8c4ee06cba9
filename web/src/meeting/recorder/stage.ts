/** The picture of a recording: the tiles of everybody, drawn on a canvas. */
import { toInitials } from '../initials.ts';
import { type Box, cropToFill, fitInside, layOut, MAX_TILES, shortenText } from './layout.ts';
import type { RecordedPerson } from './types.ts';

export const STAGE_SIZE = { width: 1280, height: 720 };

const BACKGROUND = '#101418';
const TILE = '#262c33';
const TEXT = '#ffffff';
const LABEL = 'rgb(0 0 0 / 60%)';
const FONT = 'system-ui, sans-serif';

export type Stage = {
  readonly canvas: HTMLCanvasElement;
  /** Draws what there is at this moment. */
  draw(people: readonly RecordedPerson[]): void;
  close(): void;
};

type Tile = { name: string; track: MediaStreamTrack | null; isScreen: boolean };

/** Rejects nothing: a picture that is not there yet is drawn as the initials of its person. */
export function createStage(): Stage {
  const canvas = document.createElement('canvas');
  canvas.width = STAGE_SIZE.width;
  canvas.height = STAGE_SIZE.height;
  const context = canvas.getContext('2d', { alpha: false });
  if (context === null) throw new Error('This browser cannot draw the recording');
  const videos = new Map<string, HTMLVideoElement>();

  function findVideo(track: MediaStreamTrack): HTMLVideoElement {
    const found = videos.get(track.id);
    if (found !== undefined) return found;
    const video = document.createElement('video');
    video.muted = true;
    video.playsInline = true;
    video.srcObject = new MediaStream([track]);
    // It rejects if the track goes away meanwhile.
    void video.play().catch(() => {});
    videos.set(track.id, video);
    return video;
  }

  /** A video that nobody sends any more would keep its decoder. */
  function forgetOthers(tracks: ReadonlySet<string>): void {
    for (const [id, video] of videos) {
      if (tracks.has(id)) continue;
      video.srcObject = null;
      videos.delete(id);
    }
  }

  function drawTile(paint: CanvasRenderingContext2D, { name, track, isScreen }: Tile, box: Box): void {
    paint.fillStyle = isScreen ? BACKGROUND : TILE;
    paint.fillRect(box.x, box.y, box.width, box.height);
    const video = track && findVideo(track);
    const picture = { width: video?.videoWidth ?? 0, height: video?.videoHeight ?? 0 };
    const isShown = video !== null && picture.width > 0 && picture.height > 0;
    if (isShown && isScreen) {
      const to = fitInside(picture, box);
      paint.drawImage(video, to.x, to.y, to.width, to.height);
    } else if (isShown) {
      const from = cropToFill(picture, box);
      paint.drawImage(video, from.x, from.y, from.width, from.height, box.x, box.y, box.width, box.height);
    } else {
      drawInitials(paint, name, box);
    }
    drawName(paint, isScreen ? `${name} (screen)` : name, box);
  }

  return {
    canvas,
    draw(people) {
      const { screen, tiles } = toTiles(people);
      const layout = layOut(STAGE_SIZE, tiles.length, screen !== null);
      context.fillStyle = BACKGROUND;
      context.fillRect(0, 0, canvas.width, canvas.height);
      if (screen !== null && layout.screen !== null) drawTile(context, screen, layout.screen);
      for (const [index, box] of layout.tiles.entries()) {
        const tile = tiles[index];
        if (tile !== undefined) drawTile(context, tile, box);
      }
      forgetOthers(new Set([screen, ...tiles].flatMap((tile) => tile?.track?.id ?? [])));
    },
    close: () => forgetOthers(new Set()),
  };
}

/** The first shared screen is large, and others are tiles. People with a picture come first, if there are many. */
function toTiles(people: readonly RecordedPerson[]): { screen: Tile | null; tiles: Tile[] } {
  const [screen = null, ...otherScreens] = people
    .filter(({ screen }) => isLive(screen))
    .map(({ name, screen }) => ({ name, track: screen, isScreen: true }));
  const cameras = people.map(({ name, camera }) => ({
    name,
    track: isLive(camera) ? camera : null,
    isScreen: false,
  }));
  const tiles = [...otherScreens, ...cameras];
  if (tiles.length <= MAX_TILES) return { screen, tiles };
  return { screen, tiles: tiles.toSorted((one, other) => Number(other.track !== null) - Number(one.track !== null)) };
}

function isLive(track: MediaStreamTrack | null): boolean {
  return track !== null && track.readyState === 'live' && track.enabled;
}

function drawInitials(context: CanvasRenderingContext2D, name: string, box: Box): void {
  context.fillStyle = TEXT;
  context.font = `500 ${Math.round(box.height / 4)}px ${FONT}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(toInitials(name), box.x + box.width / 2, box.y + box.height / 2);
}

function drawName(context: CanvasRenderingContext2D, name: string, box: Box): void {
  const height = Math.max(12, Math.min(20, Math.round(box.height / 10)));
  const padding = Math.round(height / 2);
  context.font = `${height}px ${FONT}`;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  const text = shortenText(name, box.width - 4 * padding, (part) => context.measureText(part).width);
  const { width } = context.measureText(text);
  const [x, y] = [box.x + padding, box.y + box.height - 2.5 * height];
  context.fillStyle = LABEL;
  context.fillRect(x, y, width + 2 * padding, 2 * height);
  context.fillStyle = TEXT;
  context.fillText(text, x + padding, y + height);
}
