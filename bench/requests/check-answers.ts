/** Checks that servers that are compared do the same: equal answers to reads, and answers of one shape to writes. */
import { deepStrictEqual } from 'node:assert';
import { openConnection } from '../load.ts';
import { workspaces } from '../world.ts';
import { nextNumber } from './measure.ts';
import { type Operation, operations, reads, type Tokens } from './operations.ts';
import type { Target, TargetName } from './targets.ts';

const writes = ['room', 'label', 'contact', 'join', 'booking'];

/** Throws if the limit and the naive server differ in an answer, or the server with the same duties and ours. */
export async function checkAnswers(targets: ReadonlyMap<TargetName, Target>, tokens: Tokens): Promise<void> {
  for (const group of [['limit', 'rows-kept', 'naive-rest'] as const, ['duties', 'ours-rest'] as const]) {
    const present = group.flatMap((name) => targets.get(name) ?? []);
    for (const name of [...reads, ...writes]) {
      const operation = operations[name];
      const [first] = present;
      if (operation === undefined || first === undefined || operation.calls[first.api] === undefined) continue;
      const answers: unknown[] = [];
      for (const target of present) answers.push(await ask(operation, target, tokens));
      const toCompare = reads.includes(name) ? sortLabels : toShape;
      for (const answer of answers)
        deepStrictEqual(toCompare(answer), toCompare(answers[0]), `${operation.title} differs in ${group.join(', ')}`);
    }
  }
}

async function ask(operation: Operation, { url, api }: Target, tokens: Tokens): Promise<unknown> {
  const connection = await openConnection(url);
  const call = operation.calls[api]?.(nextNumber(operation), tokens, workspaces.write);
  if (!call) throw new Error(`No call of ${operation.title}`);
  const { status, body } = await connection.send(call);
  connection.close();
  if (status >= 300) throw new Error(`${call.method} ${call.path}: ${status} ${body}`);
  return JSON.parse(body);
}

/** The naive server does not order the labels of an item. */
function sortLabels(answer: unknown): unknown {
  const text = JSON.stringify(answer, (key, value: unknown) =>
    key === 'labels' && Array.isArray(value) ? value.map((label) => JSON.stringify(label)).sort() : value,
  );
  return JSON.parse(text);
}

/** The types of an answer's fields, in the order of their names. */
function toShape(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : typeof value;
  const entries = Object.entries(value).map(([name, field]) => [name, toShape(field)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
