/** Writes one JSON document, a part at a time. */

/** A field of the document: a value, or an array whose entries are read in batches. */
export type Field = readonly [name: string, content: object | AsyncIterable<readonly object[]>];

/**
 * Writes an object with these fields, one entry of an array a line. Takes a batch only when the caller has consumed
 * what came before it. Errors of a batch are thrown as they are: the document then ends before its closing brace.
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
