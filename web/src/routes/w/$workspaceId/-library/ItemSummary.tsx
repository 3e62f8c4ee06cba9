import type { LibraryItem } from '@lynxroom/client';
import { FileText, Film } from 'lucide-react';
import { Poster } from '../../../../components/Poster.tsx';
import { Time } from '../../../../components/Time.tsx';
import { formatBytes, formatDuration } from '../../../../lib/format.ts';
import { LabelTag } from './LabelTag.tsx';

/** What a list shows of an item. */
export function ItemSummary({ item, onOpen }: { item: LibraryItem; onOpen: (itemId: number) => void }) {
  const Icon = item.mime_type === 'video/mp4' ? Film : FileText;
  return (
    <>
      <Poster url={item.poster_url} icon={<Icon aria-hidden size={20} />} className="h-10 w-16" />
      <div className="min-w-0 grow">
        <button
          type="button"
          title={item.name}
          className="block max-w-full truncate text-left font-medium hover:underline"
          onClick={() => onOpen(item.id)}
        >
          {item.name}
        </button>
        <p className="flex gap-2 truncate text-sm text-muted">
          <span className="whitespace-nowrap">
            {formatBytes(item.size)}
            {item.duration !== null && `, ${formatDuration(item.duration)}`}
          </span>
          <span className="flex min-w-0 gap-2">
            {item.labels.map((label) => (
              <LabelTag key={label.id} {...label} />
            ))}
          </span>
        </p>
      </div>
      <div className="hidden shrink-0 text-right text-sm text-muted sm:block">
        <p title={item.uploaded_by_name} className="max-w-40 truncate">
          {item.uploaded_by_name}
        </p>
        <Time at={item.created_at} />
      </div>
    </>
  );
}
