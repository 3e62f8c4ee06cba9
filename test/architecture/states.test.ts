/** The diagrams of docs/states.md have the states of the code and the database, and the transitions of the code. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canTransition, isFinal, recordingStatuses } from '../../src/core/recording-status.ts';
import { GuestBooking } from '../../src/features/bookings/schemas.ts';
import { participantStatuses } from '../../src/features/participants/participant-status.ts';
import { MessageStatus } from '../../src/features/webhooks/schemas.ts';

type Transition = { from: string; to: string };

/** The start of a diagram, and its end. */
const OUTSIDE = '[*]';
const TRANSITION = /^ {2}(\[\*\]|\w+) --> (\[\*\]|\w+)(?:: [^:;]+)?$/;

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** The transitions of each diagram, by the heading above it. A line that is no transition fails. */
function readDiagrams(): Map<string, Transition[]> {
  const sections = [...read('docs/states.md').matchAll(/^## (.+)\n(?:(?!^## ).*\n)*?```mermaid\n([^`]*)```$/gm)];
  return new Map(sections.map(([, heading = '', diagram = '']) => [heading, readTransitions(diagram)]));
}

function readTransitions(diagram: string): Transition[] {
  const [kind, ...lines] = diagram.trimEnd().split('\n');
  expect(kind).toBe('stateDiagram-v2');
  return lines.map((line) => {
    const [, from = '', to = ''] = TRANSITION.exec(line) ?? [];
    expect(from, `"${line}" is not a transition`).not.toBe('');
    return { from, to };
  });
}

function statesOf(transitions: readonly Transition[]): string[] {
  return [...new Set(transitions.flatMap(({ from, to }) => [from, to]))].filter((state) => state !== OUTSIDE).sort();
}

/** The values that a check constraint of a text column allows. */
function allowedBy(constraint: string): string[] {
  const [, list = ''] =
    new RegExp(`CONSTRAINT ${constraint} CHECK .*?ARRAY\\[([^\\]]+)\\]`).exec(read('prisma/current.sql')) ?? [];
  return [...list.matchAll(/'(\w+)'/g)].map(([, value = '']) => value).sort();
}

const diagrams = readDiagrams();
const sources: [heading: string, inCode: readonly string[] | null, constraint: string | null][] = [
  ['Recording', recordingStatuses, 'recordings_status_check'],
  ['Participant', participantStatuses, 'participants_status_check'],
  ['Message', MessageStatus.options, 'webhook_messages_status_check'],
  // Mail has no API, and a booking has no column for its state.
  ['Mail', null, 'mail_messages_state_check'],
  ['Booking', GuestBooking.shape.status.options, null],
];

test('there is a diagram for each kind of row', () => {
  expect([...diagrams.keys()]).toEqual(sources.map(([heading]) => heading));
});

describe.each(sources)('%s', (heading, inCode, constraint) => {
  const transitions = diagrams.get(heading) ?? [];

  test('the diagram has exactly the states of the code and of the database', () => {
    expect(transitions.length).toBeGreaterThan(0);
    if (inCode !== null) expect(statesOf(transitions)).toEqual([...inCode].sort());
    if (constraint !== null) expect(statesOf(transitions)).toEqual(allowedBy(constraint));
  });

  test('each state is reached, and no transition is shown twice', () => {
    const reached = new Set([OUTSIDE]);
    // Each round reaches at least one more state, or none is left to reach.
    for (const _ of transitions) for (const { from, to } of transitions) if (reached.has(from)) reached.add(to);
    expect(statesOf(transitions).filter((state) => !reached.has(state))).toEqual([]);
    expect(new Set(transitions.map(({ from, to }) => `${from} ${to}`)).size).toBe(transitions.length);
  });

  test('a state that ends leads nowhere else', () => {
    const ends = transitions.filter(({ to }) => to === OUTSIDE).map(({ from }) => from);
    expect(transitions.filter(({ from, to }) => ends.includes(from) && to !== OUTSIDE)).toEqual([]);
  });
});

test('the diagram of recordings has the transitions of the code', () => {
  const shown = (diagrams.get('Recording') ?? []).filter(({ from, to }) => from !== OUTSIDE && to !== OUTSIDE);
  const inCode = recordingStatuses.flatMap((from) =>
    recordingStatuses.filter((to) => canTransition(from, to)).map((to) => ({ from, to })),
  );
  // `reopenRecording` makes this one, whatever `canTransition` says.
  const reopened = { from: 'failed', to: 'uploaded' };
  expect(isFinal('failed')).toBe(true);
  expect(new Set(shown.map(toText))).toEqual(new Set([...inCode, reopened].map(toText)));
});

test('only queued mail changes, as the column ended_at says', () => {
  const changing = (diagrams.get('Mail') ?? []).filter(({ from, to }) => from !== OUTSIDE && to !== OUTSIDE);
  expect(new Set(changing.map(({ from }) => from))).toEqual(new Set(['queued']));
  expect(read('prisma/current.sql')).toContain("(ended_at IS NULL) = (state = 'queued'::text)");
});

function toText({ from, to }: Transition): string {
  return `${from} -> ${to}`;
}
