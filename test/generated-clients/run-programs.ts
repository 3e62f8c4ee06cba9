/**
 * Runs the programs of several projects in one process: `node run-programs.ts <directory> <project>...`. Prints a JSON
 * object with what each program printed, by project and program: `{ orval: { main: "1 found: ...", job: "..." } }`. The
 * error of a program that fails is added to what it printed.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const print = console.log;
const [dir = '', ...projects] = process.argv.slice(2);
const printed: Record<string, Record<string, string>> = {};
for (const project of projects) {
  process.chdir(join(dir, project));
  printed[project] = { main: await runProgram('src/main.ts'), job: await runProgram('src/job.ts') };
}
print(JSON.stringify(printed));

async function runProgram(path: string): Promise<string> {
  const lines: string[] = [];
  console.log = (line) => lines.push(String(line));
  try {
    await import(pathToFileURL(path).href);
  } catch (error) {
    lines.push(error instanceof Error ? String(error.stack) : String(error));
  }
  return lines.join('\n');
}
