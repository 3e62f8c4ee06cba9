/** Finds the imports of a source text, without a parser: the formatter gives every import one of few shapes. */

export type Import = {
  specifier: string;
  /** Whether the import disappears when the types are removed. */
  isTypeOnly: boolean;
};

const STATIC = /^(?:import|export)\s+(type\s+)?(?:[\w*{}$,\s]*?\sfrom\s*)?['"]([^'"]+)['"]/gm;
const CALL = /(\btypeof\s+)?\bimport\(\s*['"`]([^'"`$]+)['"`]/g;

/** Every module that the text imports or re-exports, in the order of the forms: static imports, then `import()`. */
export function importsOf(source: string): Import[] {
  const code = withoutComments(source);
  return [...code.matchAll(STATIC), ...code.matchAll(CALL)].map(([, type, specifier = '']) => ({
    specifier,
    isTypeOnly: type !== undefined,
  }));
}

const HIDDEN = [
  /\bimport\(\s*(?!['"`])[^)]*/g,
  /\bimport\(\s*`[^`]*\$\{[^)]*/g,
  /\b(?:require|createRequire|import\.meta\.resolve)\s*\([^)]*/g,
  /\bnew URL\(\s*['"`][^'"`]*\.[cm]?[jt]sx?['"`]/g,
];

/** The parts of the text that may load a module that `importsOf` does not see. */
export function hiddenImportsOf(source: string): string[] {
  const code = withoutComments(source);
  return HIDDEN.flatMap((form) => [...code.matchAll(form)].map(([text]) => text));
}

const RELATIVE_PATH = /(['"`])\.{1,2}\/[^'"`\n]*\.[cm]?[jt]sx?\1/g;

/** How many quoted texts look like the relative path of a module, wherever they are. */
export function countRelativePaths(source: string): number {
  return [...source.matchAll(RELATIVE_PATH)].length;
}

/** Removes comments that begin a line, as the formatter leaves them. A `//` within a line may be part of a URL. */
function withoutComments(source: string): string {
  return source.replace(/^\s*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm, '');
}
