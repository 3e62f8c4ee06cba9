/** How much of its quotas the workspace uses. */
import type { Outputs } from '@lynxroom/client';
import { useQuery } from '@tanstack/react-query';
import { createFileRoute } from '@tanstack/react-router';
import { Badge, type BadgeTone } from '../../../components/Badge.tsx';
import { ErrorPanel } from '../../../components/ErrorPanel.tsx';
import { PageHeader } from '../../../components/PageHeader.tsx';
import { SkeletonRows } from '../../../components/Skeleton.tsx';
import { trpc } from '../../../lib/client.ts';
import { formatBytes, formatNumber } from '../../../lib/format.ts';
import { useWorkspace } from '../../../lib/workspace.ts';

type Usage = Outputs['workspaces']['usage']['usage'];
type Name = keyof Usage;

/** From this share on, a quota is nearly used up. */
const HIGH = 0.8;

const labels: Record<Name, string> = {
  bytes: 'Storage',
  items: 'Files in the library',
  rooms: 'Rooms',
  contacts: 'Contacts',
  members: 'Members',
  labels: 'Labels',
  api_keys: 'API keys',
  webhooks: 'Webhooks',
  connections: 'Connections to meeting providers',
  workspaces: 'Workspaces that you own',
};

export const Route = createFileRoute('/w/$workspaceId/usage')({ component: UsagePage });

function UsagePage() {
  return (
    <>
      <PageHeader title="Usage" text="How much of its quotas this workspace uses" />
      <UsageList />
    </>
  );
}

function UsageList() {
  const { id } = useWorkspace();
  const usage = useQuery(trpc.workspaces.usage.queryOptions({ id }));
  if (usage.isPending) return <SkeletonRows count={10} />;
  if (usage.isError) {
    return <ErrorPanel what="The usage could not be loaded" error={usage.error} onRetry={() => usage.refetch()} />;
  }
  // `as`: the names are the keys of `labels`.
  const names = Object.keys(labels) as Name[];
  return (
    <>
      <ul aria-label="Quotas" className="m-0 grid list-none gap-4 p-0 md:grid-cols-2">
        {names.map((name) => (
          <UsageBar key={name} name={name} {...usage.data.usage[name]} />
        ))}
      </ul>
      <p className="mt-6 text-muted">
        When a quota is reached, nothing more can be added until something is deleted. The operator of the service sets
        the quotas.
      </p>
    </>
  );
}

type UsageBarProps = { name: Name; used: number; quota: number | null };

function UsageBar({ name, used, quota }: UsageBarProps) {
  const format = name === 'bytes' ? formatBytes : formatNumber;
  const share = quota === null ? 0 : Math.min(1, used / quota);
  const { tone, label, bar } = describeShare(share);
  const text = quota === null ? `${format(used)}, no limit` : `${format(used)} of ${format(quota)}`;
  return (
    <li className="rounded-xl border border-line p-4">
      <p className="flex flex-wrap items-center justify-between gap-2">
        <span id={`usage-${name}`} className="font-medium">
          {labels[name]}
        </span>
        <span className="flex items-center gap-2 tabular-nums">
          {label !== null && <Badge tone={tone}>{label}</Badge>}
          {text}
        </span>
      </p>
      {quota !== null && (
        // biome-ignore lint/a11y/useSemanticElements: browsers draw a `meter` in colours of their own.
        <div
          role="meter"
          aria-labelledby={`usage-${name}`}
          aria-valuemin={0}
          aria-valuemax={quota}
          aria-valuenow={Math.min(used, quota)}
          aria-valuetext={text}
          className="mt-3 h-2 overflow-hidden rounded-full bg-hover"
        >
          {/* Any usage above zero shows as a visible bar. */}
          <div
            className={`h-full rounded-full ${bar}`}
            style={{ width: `${used > 0 ? Math.max(1, share * 100) : 0}%` }}
          />
        </div>
      )}
    </li>
  );
}

function describeShare(share: number): { tone: BadgeTone; label: string | null; bar: string } {
  if (share >= 1) return { tone: 'danger', label: 'Used up', bar: 'bg-danger' };
  if (share >= HIGH) return { tone: 'warning', label: 'Nearly used up', bar: 'bg-warning-text' };
  return { tone: 'neutral', label: null, bar: 'bg-accent' };
}
