/** Writes tables into a page, between two comments that name them. The text around them is written by hand. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const MAX_LINE_LENGTH = 120;

/** Formats rows as a Markdown table. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Describes when and where something was measured. */
export function describeRun(details: string): string {
  const [cpu] = cpus();
  const day = new Date().toISOString().slice(0, 10);
  const machine = `Node ${process.versions.node}, ${cpus().length} × ${cpu?.model.trim()}`;
  return wrap(`Measured on ${day}, ${machine}. ${details}`);
}

function wrap(text: string): string {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length <= MAX_LINE_LENGTH) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join('\n');
}

/**
 * Prints a text. Unless `isWritten` is false, also writes it between `<!-- name: start -->` and `<!-- name: end -->` in
 * a page of `docs`, in place of the text that is there.
 */
export async function writeSection(page: string, name: string, text: string, isWritten: boolean): Promise<void> {
  console.log(`\n${text}`);
  if (!isWritten) return;
  const path = fileURLToPath(new URL(`../docs/${page}`, import.meta.url));
  const before = await readFile(path, 'utf8');
  const [start, end] = [`<!-- ${name}: start -->`, `<!-- ${name}: end -->`];
  const [from, to] = [before.indexOf(start), before.indexOf(end)];
  if (from < 0 || to < 0) throw new Error(`${page} has no comments ${start} and ${end}`);
  await writeFile(path, `${before.slice(0, from + start.length)}\n\n${text}\n\n${before.slice(to)}`);
  console.log(`\nWritten to docs/${page}`);
}
