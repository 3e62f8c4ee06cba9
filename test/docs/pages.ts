/** The code blocks of the guides. "Documentation" in CONTRIBUTING.md explains the rules to authors. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../client/packed-client.ts';

export type Block = {
  /** The page and the line of the block, such as `docs/labels.md:12`. */
  at: string;
  language: string;
  code: string;
  /** The file that the first line names, in a comment. */
  file: string | null;
  /** Why the block is not run, if its page says so. */
  noRun: string | null;
  /** The terminal of a command that keeps running, and of its output. */
  terminal: string | null;
  /** The program that the block needs, if some machines do not have it. */
  needs: string | null;
  /** The language of an example that the page has in several: `curl`, `TypeScript` or `Python`. */
  tab: string | null;
};

export type Page = { path: string; blocks: Block[] };

/** Pages that are left out: another test runs their blocks, or they describe the code and give no instructions. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'docs/architecture.md': 'test/architecture/docs.test.ts',
  'docs/data-access.md': 'test/architecture/data-access.test.ts',
  'docs/generated-clients.md': 'test/generated-clients/projects.ts',
};

const FENCE = /^( *)```(\S*)(.*)\n([\s\S]*?)^ *```$/gm;
const FILE_COMMENT = /^(?:<\?php\n)?(?:\/\/|#|--) (\S+\.\w+)$/m;

export function readPages(): Page[] {
  const paths = ['README.md', ...globSync('docs/*.md', { cwd: root }), ...globSync('docs/*/*.md', { cwd: root })];
  return paths
    .filter((path) => !path.startsWith('docs/decisions/') && !(path in ELSEWHERE))
    .sort()
    .map((path) => ({ path, blocks: readBlocks(path) }));
}

/** A block without a language, or of Mermaid, is a figure, not code, and is left out. */
function readBlocks(path: string): Block[] {
  const text = readFileSync(join(root, path), 'utf8');
  return [...text.matchAll(FENCE)]
    .filter(([, , language]) => language !== '' && language !== 'mermaid')
    .map((found) => {
      const [, indent = '', language = '', attributes = '', body = ''] = found;
      const at = `${path}:${text.slice(0, found.index).split('\n').length}`;
      const code = body.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
      return { at, language, code, file: fileOf(code), ...readAttributes(at, attributes) };
    });
}

function fileOf(code: string): string | null {
  const found = FILE_COMMENT.exec(code);
  return found?.index === 0 ? (found[1] ?? null) : null;
}

function readAttributes(at: string, text: string): Pick<Block, 'noRun' | 'terminal' | 'needs' | 'tab'> {
  const found = new Map([...text.matchAll(/ ([\w-]+)="([^"]+)"/g)].map(([, name = '', value = '']) => [name, value]));
  const unknown = [...found.keys()].filter((name) => !['no-run', 'terminal', 'needs', 'tab'].includes(name));
  const rest = text.replaceAll(/ [\w-]+="[^"]+"/g, '').trim();
  if (unknown.length > 0 || rest !== '')
    throw new Error(
      `${at}: a code block may have no-run="reason", terminal="name", needs="program" and tab="language"; not${text}`,
    );
  return {
    noRun: found.get('no-run') ?? null,
    terminal: found.get('terminal') ?? null,
    needs: found.get('needs') ?? null,
    tab: found.get('tab') ?? null,
  };
}
