import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../../../lib/format.ts';
import type { ListLink } from './lists.ts';

/** A day with a value for each series, and the list of what each counts. */
export type Day = { label: string; values: readonly number[]; links: readonly ListLink[] };

const HEIGHT = 100;
/** The width of a day with the gap around its bars. */
const DAY = 10;
const GAP = 2;
/** So that one of ten million is not shown as none. */
const MIN_HEIGHT = 1.5;

const fills = ['fill-accent-text', 'fill-success-text'];
const swatches = ['bg-accent-text', 'bg-success-text'];
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumSignificantDigits: 3 });

/**
 * A bar chart over days. Its texts are HTML, because the picture is stretched to the width of the page. Each bar leads
 * to the list of what it counts. The keyboard reaches the same lists in the table, without a stop for each day.
 */
export function Timeline({ days, series }: { days: readonly Day[]; series: readonly string[] }) {
  const max = roundUp(Math.max(...days.flatMap(({ values }) => values)));
  const barWidth = (DAY - GAP) / series.length;
  const heightOf = (value: number): number => (value === 0 ? 0 : Math.max((value / max) * HEIGHT, MIN_HEIGHT));
  return (
    <>
      {series.length > 1 && (
        <div className="mb-2 flex flex-wrap gap-x-4 text-sm text-muted">
          {series.map((name, index) => (
            <span key={name} className="flex items-center gap-1.5">
              <span className={`size-3 rounded-sm ${swatches[index]}`} />
              {name}
            </span>
          ))}
        </div>
      )}
      <div className="flex gap-2 py-2.5">
        <div className="flex h-44 flex-col justify-between text-right text-sm text-muted tabular-nums">
          {[max, max / 2, 0].map((value) => (
            <span key={value} className="-my-2.5 whitespace-nowrap">
              {compact.format(value)}
            </span>
          ))}
        </div>
        <svg
          aria-hidden="true"
          viewBox={`0 0 ${days.length * DAY} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-44 min-w-0 grow overflow-visible"
        >
          {[0, HEIGHT / 2, HEIGHT].map((y) => (
            <line
              key={y}
              x1={0}
              x2={days.length * DAY}
              y1={y}
              y2={y}
              vectorEffect="non-scaling-stroke"
              className="stroke-line"
            />
          ))}
          {days.map(({ label, values, links }, day) => (
            <g key={label}>
              <title>
                {`${label}: ${values.map((value, index) => `${series[index]} ${formatNumber(value)}`).join(', ')}`}
              </title>
              {/* The pointer need not hit a bar to read the title. */}
              <rect x={day * DAY} y={0} width={DAY} height={HEIGHT} className="fill-transparent hover:fill-hover" />
              {values.map((value, index) => {
                const link = links[index];
                return (
                  link !== undefined &&
                  value > 0 && (
                    <Link key={series[index]} {...link} tabIndex={-1}>
                      <rect
                        x={day * DAY + GAP / 2 + index * barWidth}
                        y={HEIGHT - heightOf(value)}
                        width={barWidth}
                        height={heightOf(value)}
                        className={`${fills[index]} hover:opacity-70`}
                      />
                    </Link>
                  )
                );
              })}
            </g>
          ))}
        </svg>
      </div>
      <div className="flex justify-between gap-x-4 text-sm text-muted">
        <span>{days.at(0)?.label}</span>
        <span>{days.at(-1)?.label}</span>
      </div>
    </>
  );
}

/** The next of 2, 4, 6, 10, 20, 40, 60, 100, …, so that half of it is a whole number too. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const steps = power === 1 ? [2, 4, 6, 10] : [1, 2, 4, 6, 10];
  return power * (steps.find((step) => step * power >= value) ?? 10);
}
