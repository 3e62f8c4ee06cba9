/** Writes a JSON document in parts. */

/** A field of the document: either a value, or an array whose entries are read in batches. */
export type Field = readonly [name: string, content: object | AsyncIterable<readonly object[]>];

/**
 * Writes an object with these fields. Each array entry is on its own line. Reads a batch only after the caller has
 * consumed everything before it. If reading a batch fails, the error is thrown unchanged and the document has no
 * closing brace.
 */
export async function* writeDocument(fields: readonly Field[]): AsyncGenerator<Buffer, void, undefined> {
  let separator = '{';
  for (const [name, content] of fields) {
    const start = `${separator}\n${JSON.stringify(name)}: `;
    separator = ',';
    if (Symbol.asyncIterator in content) yield* writeArray(start, content);
    else yield Buffer.from(start + JSON.stringify(content));
  }
  yield Buffer.from('\n}\n');
}

async function* writeArray(start: string, batches: AsyncIterable<readonly object[]>): AsyncGenerator<Buffer> {
  let lead = `${start}[`;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield Buffer.from(`${lead}\n${batch.map((entry) => JSON.stringify(entry)).join(',\n')}`);
    lead = ',';
  }
  yield Buffer.from(lead === ',' ? '\n]' : `${lead}]`);
}
