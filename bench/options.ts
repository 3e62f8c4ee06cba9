/** Returns the command-line arguments of the form `name=value`. */
export function readOptions(): Record<string, string> {
  return Object.fromEntries(process.argv.slice(2).map((argument) => argument.split('=')));
}
