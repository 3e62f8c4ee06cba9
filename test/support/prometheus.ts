/** Where Prometheus and promtool are installed. Debian's package `prometheus` has both. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The path of the program, or undefined. */
export const prometheusPath = findProgram('prometheus');
export const promtoolPath = findProgram('promtool');

export const hasPrometheus = prometheusPath !== undefined && promtoolPath !== undefined;

function findProgram(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(':')
    .map((dir) => join(dir, name))
    .find((path) => existsSync(path));
}
