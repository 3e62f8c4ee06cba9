/** Reads the text format of Prometheus. */
import type { TestApp } from '../support/test-app.ts';

export type Sample = { name: string; labels: Record<string, string>; value: number };

const LINE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function parseSamples(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    if (line === '' || line.startsWith('#')) return [];
    const [, name = '', labels = '', value] = LINE.exec(line) ?? [];
    if (name === '') throw new Error(`Not a sample: ${line}`);
    return {
      name,
      labels: Object.fromEntries([...labels.matchAll(LABEL)].map(([, label, text]) => [label, text])),
      value: Number(value),
    };
  });
}

/** Scrapes an app that has metrics. */
export async function scrape(app: TestApp): Promise<Sample[]> {
  if (app.metrics === null) throw new Error('The app has no metrics');
  return parseSamples(await app.metrics.scrape());
}

/** The sum of the samples with this name and these labels. Undefined if there is none. */
export function totalOf(samples: readonly Sample[], name: string, labels: Record<string, string> = {}) {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([label, text]) => sample.labels[label] === text),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
