import { formatBytes } from '../../../../lib/format.ts';

const days = [7, 30, 60, 90, 180, 365] as const;

/** The options of a field for a retention policy. */
export const retentionDays = [
  { value: '', label: 'Forever' },
  ...days.map((count) => ({ value: String(count), label: `${count} days` })),
];

/** The days of an option; null for "Forever", or if none is chosen. */
export function toDays(value: string | null): (typeof days)[number] | null {
  return days.find((count) => String(count) === value) ?? null;
}

type Props = { preview: { count: number; bytes: number } | undefined; one: string; many: string };

/** Says how much the chosen policy deletes. */
export function RetentionPreview({ preview, one, many }: Props) {
  if (preview === undefined) return <p role="status">Counting what would be deleted …</p>;
  const { count, bytes } = preview;
  return (
    <p role="status">
      {count === 0
        ? `Nothing is old enough to be deleted now.`
        : `This deletes ${count} ${count === 1 ? one : many} (${formatBytes(bytes)}) the next time it is applied.`}
    </p>
  );
}
