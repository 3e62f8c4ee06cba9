/**
 * Fails if the OpenAPI document has breaking changes since the main branch (or since the commit OPENAPI_BASE) that the
 * changelog does not declare: `npm run openapi:compare`. A breaking change is declared by naming its operation, such as
 * `GET /api/workspaces`, under the heading "Breaking" of the section "Unreleased".
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { findBreakingChanges } from './find-breaking-changes.ts';

const DOCUMENT = 'docs/openapi.json';

const base = findBase();
if (base === null) {
  console.log(`No earlier commit has ${DOCUMENT}: nothing to compare`);
} else {
  const before = JSON.parse(git('show', `${base}:${DOCUMENT}`) ?? '{}');
  const declared = readDeclared();
  const changes = findBreakingChanges(before, JSON.parse(readFileSync(DOCUMENT, 'utf8')));
  const undeclared = changes.filter(({ operation }) => !declared.includes(`\`${operation}\``));
  for (const { operation, text } of undeclared) console.error(`${operation}: ${text}`);
  if (undeclared.length > 0) {
    console.error(`${undeclared.length} breaking changes since ${base} that CHANGELOG.md does not declare`);
    process.exitCode = 1;
  } else {
    console.log(`${changes.length} breaking changes since ${base}, all declared`);
  }
}

/**
 * The commit to compare with: OPENAPI_BASE, the main branch or the parent of this commit, whichever first has the
 * document and is not this commit. Null if none.
 */
function findBase(): string | null {
  const head = git('rev-parse', 'HEAD');
  const candidates = [process.env.OPENAPI_BASE, 'origin/main', 'main', 'HEAD~1'];
  for (const name of candidates) {
    const commit = name && git('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
    if (commit && commit !== head && git('cat-file', '-e', `${commit}:${DOCUMENT}`) !== null) return commit;
  }
  return null;
}

/** What the changelog says under "Breaking" in the section "Unreleased". */
function readDeclared(): string {
  const [, unreleased = ''] = readFileSync('CHANGELOG.md', 'utf8').split(/^## /m);
  return /^### Breaking\n([\s\S]*?)(?=^### |$(?![\s\S]))/m.exec(unreleased)?.[1] ?? '';
}

/** The output of git. Null if it fails. */
function git(...args: string[]): string | null {
  try {
    return execFileSync('git', args, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      maxBuffer: 2 ** 26,
    }).trim();
  } catch {
    return null;
  }
}
