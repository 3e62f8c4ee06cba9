/**
 * `npm run diagrams`: draws the Mermaid diagrams of the guides as `docs/diagrams/*.svg`, and removes those of earlier
 * sources. It needs chromium, and installs Mermaid outside of the project.
 */
import { globSync, readFileSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DIAGRAMS_DIR, type DiagramTheme, diagramPath, diagramThemes, MERMAID_BLOCK } from '../src/docs/diagrams.ts';
import { root } from '../test/client/packed-client.ts';
import { startBrowser } from '../test/consumer/browser.ts';
import { installPackages } from '../test/support/install-packages.ts';
import { makeTempDir } from '../test/support/temp-dir.ts';

/** The colors of `docs/site/frame.css`. */
const COLORS: Record<
  DiagramTheme,
  { page: string; panel: string; box: string; border: string; text: string; line: string }
> = {
  light: { page: '#ffffff', panel: '#f6f7fb', box: '#eef0fb', border: '#8a90a6', text: '#1f2430', line: '#5b6272' },
  dark: { page: '#12141b', panel: '#1a1d27', box: '#252a3a', border: '#6d7590', text: '#e6e8ef', line: '#a3abbd' },
};

/** Runs in the page. Leaves out what the drawing does not use: rules, markers, and data for scripts. */
const DRAW_IN_PAGE = `async ([id, source, settings]) => {
  const { mermaid } = window;
  mermaid.initialize(settings);
  document.body.innerHTML = (await mermaid.render(id, source)).svg;
  const svg = document.querySelector('svg');
  const style = svg.querySelector('style');
  const isUsed = ({ selectorText }) => selectorText !== undefined && document.querySelector(selectorText) !== null;
  style.textContent = [...style.sheet.cssRules].filter(isUsed).map(({ cssText }) => cssText).join('\\n');
  for (const one of svg.querySelectorAll('marker, filter, linearGradient, symbol'))
    if (!svg.outerHTML.includes('#' + one.id + ')') && !svg.outerHTML.includes('#' + one.id + '"')) one.remove();
  for (const label of svg.querySelectorAll('.statediagram-state > .label'))
    label.setAttribute('transform', label.getAttribute('transform').replace(/translate\\([^,]+,/, 'translate(0,'));
  for (const one of [svg, ...svg.querySelectorAll('*')])
    for (const { name, value } of [...one.attributes])
      if (name.startsWith('data-') || value === '') one.removeAttribute(name);
  const round = (text) => text.replace(/\\d+\\.\\d{3,}/g, (number) => String(Number(Number(number).toFixed(1))));
  return round(new XMLSerializer().serializeToString(svg));
}`;

const dir = await makeTempDir();
try {
  const sources = globSync('docs/*.md', { cwd: root }).flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(MERMAID_BLOCK)].map(([, source = '']) => source),
  );
  await installPackages('tools/diagrams', dir);
  const drawn = await draw(sources);
  await mkdir(join(root, DIAGRAMS_DIR), { recursive: true });
  for (const name of await readdir(join(root, DIAGRAMS_DIR)))
    if (!drawn.has(`${DIAGRAMS_DIR}/${name}`)) await rm(join(root, DIAGRAMS_DIR, name));
  for (const [path, svg] of drawn) await writeFile(join(root, path), svg);
  process.stdout.write(`Drew ${sources.length} diagrams\n`);
} finally {
  await rm(dir, { recursive: true, force: true });
}

/** Returns the drawings by path. */
async function draw(sources: string[]): Promise<Map<string, string>> {
  const drawings = new Map<string, string>();
  const browser = await startBrowser(dir);
  const page = await browser.newPage();
  const start = join(dir, 'start.html');
  await writeFile(
    start,
    '<meta charset="utf-8"><body><script src="node_modules/mermaid/dist/mermaid.min.js"></script>',
  );
  await page.goto(pathToFileURL(start).href);
  for (const source of sources)
    for (const theme of diagramThemes) {
      const path = diagramPath(source, theme);
      const id = `d${basename(path, '.svg')}`;
      const call = `(${DRAW_IN_PAGE})(${JSON.stringify([id, source, settingsOf(theme)])})`;
      // `as`: the function in the page returns a string.
      drawings.set(path, `${(await page.evaluate(call)) as string}\n`);
    }
  await browser.close();
  return drawings;
}

function settingsOf(theme: DiagramTheme): object {
  const { page, panel, box, border, text, line } = COLORS[theme];
  return {
    startOnLoad: false,
    securityLevel: 'strict',
    deterministicIds: true,
    htmlLabels: false,
    look: 'classic',
    theme: 'base',
    fontFamily: 'Arial, Helvetica, sans-serif',
    themeVariables: {
      darkMode: theme === 'dark',
      fontSize: '15px',
      useGradient: false,
      dropShadow: 'none',
      background: page,
      primaryColor: box,
      primaryBorderColor: border,
      primaryTextColor: text,
      textColor: text,
      lineColor: line,
      signalColor: line,
      noteBkgColor: panel,
      noteBorderColor: border,
      noteTextColor: text,
      labelBoxBkgColor: box,
      edgeLabelBackground: page,
    },
    // Lines pass behind their labels, and the name of a state is in the middle.
    themeCSS:
      `.edgeLabel rect { opacity: 1 !important; fill: ${page} !important } ` +
      '.statediagram-state .label text, .statediagram-state .label tspan { text-anchor: middle }',
    flowchart: { htmlLabels: false, wrappingWidth: 180, useMaxWidth: false },
    state: { useMaxWidth: false },
    sequence: { useMaxWidth: false, wrap: true, width: 130, height: 44, mirrorActors: false },
  };
}
