/** The tables of the requests part. */
import { toTable } from '../report.ts';
import { spread } from '../upload-servers.ts';
import type { Figures } from './measure.ts';
import { operations } from './operations.ts';
import type { Trips } from './round-trips.ts';
import type { TargetName } from './targets.ts';

export type ByTarget = ReadonlyMap<TargetName, readonly Figures[]>;

export type Results = {
  operations: Map<string, ByTarget>;
  /** Rooms created by all writers in one workspace, and in a workspace each. */
  spread: Map<TargetName, { one: Figures; many: Figures }[]>;
  peakMib: Map<TargetName, number>;
  trips: Map<TargetName, Map<string, Trips>>;
};

type Goal = { title: string; must: string; ambitious: string; values: readonly number[] };

const NO_VALUES: readonly number[] = [];

/** Every operation and server: rate, CPU and latency. */
export function requestsTable(all: ReadonlyMap<string, ByTarget>): string {
  const rows = [...all].flatMap(([name, figures]) =>
    [...figures].map(([target, values], index) => [
      index === 0 ? (operations[name]?.title ?? name) : '',
      target,
      spread(column(values, 'perSecond')),
      spread(column(values, 'cpuUs')),
      spread(column(values, 'p50'), 1),
      spread(column(values, 'p99'), 1),
    ]),
  );
  return toTable(['Operation', 'Server', 'requests/s', 'CPU, µs', 'p50, ms', 'p99, ms'], rows);
}

/** Each goal with the ratio that was measured, by round. */
export function goalsTable(results: Results): string {
  const goals = listGoals(results).filter(({ values }) => values.some(Number.isFinite));
  const rows = goals.map(({ title, must, ambitious, values }) => [title, must, ambitious, spread(values, 2)]);
  return toTable(['Goal', 'Must', 'Ambitious', 'Measured'], rows);
}

function listGoals(results: Results): Goal[] {
  const ratio = (operation: string, key: keyof Figures, target: TargetName, other: TargetName): readonly number[] => {
    const figures = results.operations.get(operation);
    const others = column(figures?.get(other) ?? [], key);
    return column(figures?.get(target) ?? [], key).flatMap((value, round) => value / (others[round] ?? Number.NaN));
  };
  const cpuOf = (operation: string, other: TargetName) => ratio(operation, 'cpuUs', 'ours-rest', other);
  const room = [
    { title: 'CPU against limit', must: '≤ 5', ambitious: '≤ 2.5', values: cpuOf('room', 'limit') },
    { title: 'CPU against duties', must: '', ambitious: '', values: cpuOf('room', 'duties') },
    ...(['naive-trpc', 'naive-rest'] as const).map((naive) => ({
      title: `rate against ${naive}`,
      must: '≥ 1.0',
      ambitious: '≥ 1.5',
      values: ratio('room', 'perSecond', 'ours-rest', naive),
    })),
  ].map((goal) => ({ ...goal, title: `POST room: ${goal.title}` }));
  const writes = ['label', 'assign', 'contact', 'join', 'leave', 'booking'].map((name) => ({
    title: `${operations[name]?.title}: CPU against duties`,
    must: '≤ 2.5',
    ambitious: '≤ 1.6',
    values: cpuOf(name, 'duties'),
  }));
  const trips = ['room', 'label', 'assign', 'contact', 'join', 'leave', 'booking'].map((name) => ({
    title: `${operations[name]?.title}: round trips, besides finding the caller`,
    must: '≤ 3',
    ambitious: '1',
    values: tripsOf(results, name),
  }));
  const trpc = ['retention', 'labels', 'list', 'search', 'room'].map((name) => ({
    title: `${operations[name]?.title}: CPU of tRPC against REST`,
    must: '≤ 1.25',
    ambitious: '1.0',
    values: ratio(name, 'cpuUs', 'ours-trpc', 'ours-rest'),
  }));
  return [
    ...comparedReads.map(({ name, must }) => ({
      title: `${operations[name]?.title}: CPU against rows-kept`,
      must,
      ambitious: '≤ 1.5',
      values: cpuOf(name, 'rows-kept'),
    })),
    {
      title: 'GET library: rate against rows-kept',
      must: '≥ .75',
      ambitious: '≥ .95',
      values: ratio('list', 'perSecond', 'ours-rest', 'rows-kept'),
    },
    {
      title: 'GET retention: CPU against duties',
      must: '≤ 2.5',
      ambitious: '≤ 1.5',
      values: cpuOf('retention', 'duties'),
    },
    ...room,
    ...writes,
    ...trips,
    {
      title: 'POST room: rate of 16 writers in one workspace against that in 16 workspaces',
      must: '≥ .6',
      ambitious: '≥ .85',
      values: (results.spread.get('ours-rest') ?? []).map(({ one, many }) => one.perSecond / many.perSecond),
    },
    ...trpc,
    {
      title: 'Peak memory after the run: ours-rest against limit',
      must: '≤ 2.5',
      ambitious: '≤ 1.8',
      values: memoryRatio(results),
    },
  ];
}

const comparedReads = [
  { name: 'labels', must: '≤ 2.2' },
  { name: 'list', must: '≤ 2.4' },
  { name: 'search', must: '≤ 2.5' },
];

/** Joining and booking as a guest need no caller; leaving finds the participant in a statement of its own. */
function tripsOf(results: Results, operation: string): readonly number[] {
  const counted = results.trips.get('ours-rest')?.get(operation);
  if (counted === undefined) return NO_VALUES;
  return [counted.trips - (operation === 'join' || operation === 'booking' ? 0 : 1)];
}

function memoryRatio({ peakMib }: Results): readonly number[] {
  const [ours, limit] = [peakMib.get('ours-rest'), peakMib.get('limit')];
  return ours === undefined || limit === undefined ? NO_VALUES : [ours / limit];
}

/** Writers in one workspace and in many, memory, and round trips. */
export function spreadTable({ spread: bySpread, peakMib, trips }: Results): string {
  const writers = [...bySpread].map(([target, rounds]) => [
    target,
    spread(rounds.map(({ one }) => one.perSecond)),
    spread(rounds.map(({ many }) => many.perSecond)),
    spread(
      rounds.map(({ one, many }) => one.perSecond / many.perSecond),
      2,
    ),
  ]);
  const memory = [...peakMib].map(([target, mib]) => [target, mib.toFixed(0)]);
  const [ours, duties] = [trips.get('ours-rest'), trips.get('duties')];
  const tripRows = [...(ours ?? [])].map(([name, counted]) => {
    const other = duties?.get(name);
    return [
      operations[name]?.title ?? name,
      `${counted.trips} (${counted.statements})`,
      other ? `${other.trips} (${other.statements})` : '',
    ];
  });
  return [
    writers.length > 0 &&
      toTable(['POST room, 16 writers', 'one workspace, /s', '16 workspaces, /s', 'ratio'], writers),
    toTable(['Server', 'Peak memory, MiB'], memory),
    tripRows.length > 0 && toTable(['Round trips to PostgreSQL (statements)', 'ours', 'duties'], tripRows),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function column(figures: readonly Figures[], key: keyof Figures): number[] {
  return figures.map((values) => values[key]);
}
